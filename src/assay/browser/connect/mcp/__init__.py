"""A proxy between an MCP client and a browser's MCP server that scores every step."""
