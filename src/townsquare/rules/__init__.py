"""A model made of rules: it reads the same prompts and writes the same actions as an LLM.

It knows ways to work (find a site, fill in a form, read a table, count), and no page, name or
number of the town: everything in its replies comes from the conversation.
"""
