# SPDX-License-Identifier: Apache-2.0
#
# model.py PORT-FILE LOG COMMAND: a model on loopback that answers every conversation the same way: run COMMAND with the shell tool, then say
# "done". It speaks just enough of the four protocols for a real agent to do so. What the agent reports back from the tool is appended to LOG.
import http.server
import json
import os
import sys

port_file, log, command = sys.argv[1:4]


def note(text):
    with open(log, "a", encoding="utf-8") as out:
        out.write(text + "\n")


def events(pairs):
    return "".join((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in pairs)


def anthropic(request):
    last = request["messages"][-1]["content"]
    results = [b for b in last if isinstance(b, dict) and b.get("type") == "tool_result"] if isinstance(last, list) else []
    has_bash = any(t.get("name") == "Bash" for t in request.get("tools", []))
    for result in results:
        note("RESULT " + json.dumps(result.get("content")))
    if results or not has_bash:
        block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn"
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": command, "description": "try"})}
        reason = "tool_use"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    if not request.get("stream"):
        return "application/json", json.dumps(message | {"content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"})
    return "text/event-stream", events([
        ("message_start", {"type": "message_start", "message": message}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
                           "usage": {"output_tokens": 1}}),
        ("message_stop", {"type": "message_stop"})])


def responses(request):
    items = request.get("input", [])
    outputs = [i for i in items if isinstance(i, dict) and str(i.get("type", "")).endswith("_call_output")]
    for output in outputs[-1:]:
        note("RESULT " + json.dumps(output.get("output")))
    names = {t.get("name"): t for t in request.get("tools", [])}
    note("TOOLS " + json.dumps(sorted(str(n) for n in names)))
    if outputs:
        item = {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "done"}]}
    elif "exec_command" in names:
        item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command",
                "arguments": json.dumps({"cmd": command})}
    elif "shell_command" in names:
        item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "shell_command",
                "arguments": json.dumps({"command": command})}
    else:
        item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "shell",
                "arguments": json.dumps({"command": ["bash", "-lc", command]})}
    done = {"id": "r1", "object": "response", "status": "completed", "output": [item],
            "usage": {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
                      "total_tokens": 2}}
    return "text/event-stream", events([
        ("response.created", {"type": "response.created", "response": {"id": "r1"}}),
        ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("response.completed", {"type": "response.completed", "response": done})])


def gemini(request, is_stream):
    parts = [p for c in request.get("contents", []) for p in c.get("parts", [])]
    results = [p["functionResponse"] for p in parts if "functionResponse" in p]
    tools = [d.get("name") for t in request.get("tools", []) for d in t.get("functionDeclarations", [])]
    for result in results[-1:]:
        note("RESULT " + json.dumps(result.get("response")))
    if results or "run_shell_command" not in tools:
        part = {"text": "done"}
    else:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": command, "description": "try"}}}
    if request.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": json.dumps({"reasoning": "", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1,
                                    "complexity_reasoning": ""})}
    body = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
    return ("text/event-stream", events([(None, body)])) if is_stream else ("application/json", json.dumps(body))


def chat(request):
    results = [m for m in request["messages"] if m.get("role") == "tool"]
    tools = [t["function"]["name"] for t in request.get("tools", [])]
    for result in results[-1:]:
        note("RESULT " + json.dumps(result.get("content")))
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    if results or "bash" not in tools:
        delta, reason = {"role": "assistant", "content": "done"}, "stop"
    else:
        delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {
            "name": "bash", "arguments": json.dumps({"command": command, "description": "try"})}}]}
        reason = "tool_calls"
    chunks = [base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
              base | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
                      "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]
    return "text/event-stream", events([(None, c) for c in chunks]) + "data: [DONE]\n\n"


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

    def do_GET(self):
        note("GET " + self.path)
        self.answer("application/json", json.dumps({"data": [], "models": []}))

    def do_POST(self):
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            raw = b""
            while True:
                size = int(self.rfile.readline().strip() or b"0", 16)
                chunk = self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
                raw += chunk
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        note("POST " + self.path)
        try:
            request = json.loads(raw)
        except ValueError:
            return self.answer("application/json", "{}")
        path = self.path.split("?")[0]
        if path.endswith("/messages"):
            return self.answer(*anthropic(request))
        if path.endswith("/responses"):
            return self.answer(*responses(request))
        if path.endswith("/chat/completions"):
            return self.answer(*chat(request))
        if "GenerateContent" in path or path.endswith(":generateContent"):
            return self.answer(*gemini(request, "streamGenerateContent" in path))
        return self.answer("application/json", json.dumps({"totalTokens": 1, "input_tokens": 1}))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w", encoding="utf-8") as out:
    out.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
