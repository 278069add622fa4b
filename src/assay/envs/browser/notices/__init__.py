"""What a page says of itself when it does not give what was asked for."""

from assay.envs.browser.notices.reading import Notice, is_refusal, read_notice, read_wall

__all__ = ["Notice", "is_refusal", "read_notice", "read_wall"]
