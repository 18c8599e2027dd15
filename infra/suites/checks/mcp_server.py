"""A server of the reference kit of the Model Context Protocol: mcp_server.py PORT [json]."""

import sys

import uvicorn

try:
    from mcp.server.mcpserver import Context, MCPServer
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("reference")
port, as_json = int(sys.argv[1]), sys.argv[2:] == ["json"]


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def walk(steps: int, ctx: Context) -> str:
    """Walks so many steps."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    return "arrived"


try:
    app = server.streamable_http_app(json_response=as_json)
except TypeError:
    server.settings.json_response = as_json
    app = server.streamable_http_app()
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
