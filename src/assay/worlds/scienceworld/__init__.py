"""ScienceWorld: thirty tasks of elementary-school science, played on the original simulator."""
