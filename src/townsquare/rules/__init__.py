"""A model without a neural network: rules that read the prompts and write the same action text.

It knows ways to work (find a site, fill in a form, read a table, count), and no page, name or
number: everything it says comes out of the conversation it is given.
"""
