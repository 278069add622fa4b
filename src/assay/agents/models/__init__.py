"""Language models behind one verb: a conversation in, a reply out."""
