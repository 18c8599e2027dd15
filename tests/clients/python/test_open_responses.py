"""The requests of the compliance tests of Open Responses; responses and events against the types of its specification.

Source: <https://github.com/openresponses/openresponses>, src/lib/compliance-tests.ts (2026-11-27), written again.
"""

import json
import os
import re
import unittest
import urllib.request

from openresponses_types import types
from scripted import WEATHER, script

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city now.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


def event_types():
    """The type of each event by its name, which is the only value of an enumeration."""
    models = [model for name, model in vars(types).items() if name.endswith("StreamingEvent")]
    return {next(iter(model.model_fields["type"].annotation)).value: model for model in models}


def message(role, content):
    return {"type": "message", "role": role, "content": content}


def respond(text, stream=False, **more):
    body = {"model": "native", "input": [message("user", text)], "stream": stream, **more}
    headers = {"content-type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/responses"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def respond_whole(text, **more):
    return types.ResponseResource.model_validate_json(respond(text, **more))


def respond_streamed(text, **more):
    """The events; the last one has the whole response."""
    frames = re.findall(r"^data: (\{.*)$", respond(text, stream=True, **more), re.MULTILINE)
    models = event_types()
    return [models[json.loads(frame)["type"]].model_validate_json(frame) for frame in frames]


class OpenResponses(unittest.TestCase):
    def test_text(self):
        self.assertEqual(respond_whole("Say hello.").status, "completed")
        self.assertEqual(respond_streamed("Count from 1 to 5.")[-1].response.status, "completed")

    def test_conversation_of_the_client(self):
        earlier = [message("system", "Be short."), message("user", "I am Alice."), message("assistant", "Hello!")]
        response = respond_whole("", input=[*earlier, message("user", "What is my name?")])
        self.assertEqual(response.status, "completed")

    def test_picture(self):
        parts = [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": PICTURE}]
        self.assertEqual(respond_whole(parts).status, "completed")

    def test_function_call(self):
        [call] = respond_whole(script([WEATHER]), tools=[TOOL]).output
        self.assertEqual((call.type, call.name), ("function_call", "get_weather"))
        names = [event.type for event in respond_streamed(script([WEATHER]), tools=[TOOL])]
        call = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"]
        expected = ["created", "in_progress", *call, "completed"]
        self.assertEqual(names, [f"response.{name}" for name in expected])
