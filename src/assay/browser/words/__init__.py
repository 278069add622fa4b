"""What labels, notices and errors mean, in many languages."""
