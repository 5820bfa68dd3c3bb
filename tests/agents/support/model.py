# SPDX-License-Identifier: Apache-2.0
#
# model.py PORT-FILE SCRIPT LOG: a model on loopback that plays a script for a real agent. It speaks
# Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini generateContent, each as a
# stream and as one document. Every conversation that has a shell tool gets the steps of SCRIPT, one
# per turn, and then the text "done"; the number of tool results in the request is the position, so
# that a repeated request gets the same answer. Requests without tools (titles, summaries) get text.
#
# SCRIPT is a JSON list, read again for each request. A step is one of
#   {"shell": "COMMAND", "input": {...}}      the agent's own shell tool; input adds arguments
#   {"tool": "NAME", "input": {...}}          any tool with JSON arguments
#   {"tool": "NAME", "text": "..."}           a tool with free text (apply_patch)
# LOG gets one JSON object per line: {"tools": [...]}, {"step": N, "result": TEXT, "is_error": BOOL,
# "ms": from the answer to the next request}, {"request": PATH} and {"reached": PATH} for a GET below /reach, which commands try.
import http.server
import json
import os
import sys
import time

# Shell tools by the names that agents give them, and the argument that has the command.
SHELLS = {
    "Bash": "command", "bash": "command", "exec_command": "cmd", "shell_command": "command", "shell": "command",
    "run_shell_command": "command", "run_commands": "commands", "execute_command": "command",
}
# Arguments that a shell tool insists on.
FURTHER = {"Bash": {"description": "try"}, "bash": {"description": "try"}, "run_shell_command": {"description": "try"},
           "execute_command": {"requires_approval": False}}
USAGE_CHAT = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def shell_of(tools):
    """The shell tool among these names, or None: a conversation without one gets text."""
    return next((name for name in SHELLS if name in tools), None)


def arguments_of(step, tools):
    """(tool, arguments) of a step; arguments is a string for a tool with free text."""
    if "tool" in step:
        return step["tool"], step["text"] if "text" in step else step["input"]
    name = shell_of(tools)
    command = step["shell"]
    if name == "shell":
        command = ["bash", "-lc", command]
    elif name == "run_commands":
        command = [command]
    return name, {SHELLS[name]: command} | FURTHER.get(name, {}) | step.get("input", {})


def text_of(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", f"[{part.get('type')}]") if isinstance(part, dict) else str(part) for part in content)
    return json.dumps(content)


def events(pairs):
    return "".join((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in pairs)


class Player:
    """The script and the log. next() is called with what a request says about the conversation."""

    def __init__(self, script, log):
        self.script, self.log = script, log
        self.answered = time.monotonic()

    def note(self, entry):
        with open(self.log, "a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")

    def next(self, tools, results):
        """The (tool, arguments) to call, or None for the end. results: pairs of text and is_error."""
        if not shell_of(tools):
            return None
        if results:
            self.note({"step": len(results), "result": results[-1][0], "is_error": bool(results[-1][1]),
                       "ms": round((time.monotonic() - self.answered) * 1000)})
        else:
            self.note({"tools": sorted(tools)})
        with open(self.script, encoding="utf-8") as source:
            steps = json.load(source)
        self.answered = time.monotonic()
        return arguments_of(steps[len(results)], tools) if len(results) < len(steps) else None


def anthropic(player, request):
    results = [(text_of(block.get("content")), block.get("is_error")) for message in request["messages"]
               if isinstance(message["content"], list) for block in message["content"]
               if isinstance(block, dict) and block.get("type") == "tool_result"]
    call = player.next([tool.get("name") for tool in request.get("tools", [])], results)
    if call:
        block = {"type": "tool_use", "id": f"toolu_{len(results) + 1}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        whole, reason = block | {"input": call[1]}, "tool_use"
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        whole, reason = {"type": "text", "text": "done"}, "end_turn"
    message = {"id": f"msg_{len(results)}", "type": "message", "role": "assistant", "model": request["model"], "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    if not request.get("stream"):
        return "application/json", json.dumps(message | {"content": [whole], "stop_reason": reason})
    return "text/event-stream", events([
        ("message_start", {"type": "message_start", "message": message}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                           "usage": {"output_tokens": 1}}),
        ("message_stop", {"type": "message_stop"})])


def responses(player, request):
    items = request.get("input", [])
    results = [(text_of(item.get("output")), False) for item in items
               if isinstance(item, dict) and str(item.get("type", "")).endswith("_call_output")]
    call = player.next([str(tool.get("name", tool.get("type"))) for tool in request.get("tools", [])], results)
    number = len(results) + 1
    if not call:
        item = {"type": "message", "role": "assistant", "id": f"m{number}",
                "content": [{"type": "output_text", "text": "done"}]}
    elif isinstance(call[1], str):
        item = {"type": "custom_tool_call", "id": f"f{number}", "call_id": f"c{number}", "name": call[0], "input": call[1]}
    else:
        item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "name": call[0],
                "arguments": json.dumps(call[1])}
    done = {"id": f"r{number}", "object": "response", "status": "completed", "output": [item],
            "usage": {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
                      "total_tokens": 2}}
    if not request.get("stream"):
        return "application/json", json.dumps(done)
    return "text/event-stream", events([
        ("response.created", {"type": "response.created", "response": {"id": done["id"]}}),
        ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("response.completed", {"type": "response.completed", "response": done})])


def gemini(player, request, is_stream):
    parts = [part for content in request.get("contents", []) for part in content.get("parts", [])]
    results = [(text_of(part["functionResponse"].get("response")), "error" in part["functionResponse"].get("response", {}))
               for part in parts if "functionResponse" in part]
    tools = [entry.get("name") for tool in request.get("tools", []) for entry in tool.get("functionDeclarations", [])]
    call = player.next(tools, results)
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "done"}
    # Gemini CLI asks for decisions about the conversation in JSON.
    if request.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": json.dumps({"reasoning": "", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1,
                                    "complexity_reasoning": ""})}
    body = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
    return ("text/event-stream", events([(None, body)])) if is_stream else ("application/json", json.dumps(body))


def chat(player, request):
    results = [(text_of(message.get("content")), False) for message in request["messages"] if message.get("role") == "tool"]
    call = player.next([tool["function"]["name"] for tool in request.get("tools", [])], results)
    base = {"id": "x", "created": 1, "model": request["model"]}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        delta = {"role": "assistant", "tool_calls": [
            {"index": 0, "id": f"c{len(results) + 1}", "type": "function", "function": function}]}
        reason = "tool_calls"
    else:
        delta, reason = {"role": "assistant", "content": "done"}, "stop"
    if not request.get("stream"):
        choices = [{"index": 0, "message": delta, "finish_reason": reason}]
        return "application/json", json.dumps(base | {"object": "chat.completion", "choices": choices, "usage": USAGE_CHAT})
    base["object"] = "chat.completion.chunk"
    chunks = [base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
              base | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": USAGE_CHAT}]
    return "text/event-stream", events([(None, chunk) for chunk in chunks]) + "data: [DONE]\n\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, kind, text, status=200):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        raw = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def do_GET(self):
        if self.path.startswith("/reach"):
            self.server.player.note({"reached": self.path})
            return self.answer("text/plain", "REACHED\n")
        return self.answer("application/json", json.dumps({"data": [], "models": []}))

    def do_HEAD(self):
        self.answer("application/json", "")

    def do_POST(self):
        raw, path, player = self.body(), self.path.split("?")[0], self.server.player
        player.note({"request": path})
        try:
            request = json.loads(raw)
        except ValueError:
            return self.answer("application/json", "{}")
        if path.endswith("/messages"):
            return self.answer(*anthropic(player, request))
        if path.endswith("/responses"):
            return self.answer(*responses(player, request))
        if path.endswith("/chat/completions"):
            return self.answer(*chat(player, request))
        if path.endswith(("generateContent", "GenerateContent")):
            return self.answer(*gemini(player, request, "streamGenerateContent" in path))
        return self.answer("application/json", json.dumps({"totalTokens": 1, "input_tokens": 1}))


def main():
    port_file, script, log = sys.argv[1:4]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.player = Player(script, log)
    with open(port_file + ".new", "w", encoding="utf-8") as out:
        out.write(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
