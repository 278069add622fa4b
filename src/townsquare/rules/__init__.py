"""A model without a neural network: rules that read the prompts and write the same action text.

It knows ways to work (find a site, fill in a form, read a table, count), and no page, name or
number of the town: everything in its replies comes from the conversation.
"""
