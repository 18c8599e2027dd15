"""The published package `openai` against the server with a scripted model."""

import json
import unittest

import openai
from openai import OpenAI
from pydantic import BaseModel
from scripted import GUARDED, KEYS, PATHS, SEARCH, SEARCHED, WEATHER, release, script, wait_for_disconnect

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city now.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

client = OpenAI(max_retries=0)


class Location(BaseModel):
    city: str


def create(model, text, **more):
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **more)


def on_both_paths(test):
    """Runs a test with both models."""

    def both(self):
        for model in PATHS:
            with self.subTest(model):
                test(self, model)

    return both


class Answers(unittest.TestCase):
    @on_both_paths
    def test_answer_has_sources_and_usage(self, model):
        answer = create(model, script(*SEARCHED))
        [choice] = answer.choices
        text = choice.message.content
        self.assertEqual((answer.model, text, choice.finish_reason), (model, "A chat backend 🙂 [1].", "stop"))
        self.assertEqual((choice.message.tool_calls, choice.message.reasoning_content), (None, "A page says it. "))
        cited = choice.message.annotations[0].url_citation
        self.assertEqual(text[cited.start_index : cited.end_index], "[1]")
        self.assertRegex(cited.url, r"^http://127\.0\.0\.1:\d+/demo/en/")
        self.assertTrue(cited.title)
        used = answer.usage
        self.assertEqual((used.prompt_tokens, used.completion_tokens, used.total_tokens), (222, 14, 236))

    @on_both_paths
    def test_stream_equals_whole_answer(self, model):
        whole = create(model, script(*SEARCHED)).choices[0].message
        messages = [{"role": "user", "content": script(*SEARCHED)}]
        options = {"stream_options": {"include_usage": True}}
        with client.chat.completions.stream(model=model, messages=messages, **options) as stream:
            kinds = {event.type for event in stream}
            answer = stream.get_final_completion()
        message = answer.choices[0].message
        self.assertTrue({"chunk", "content.delta", "content.done"} <= kinds)
        self.assertEqual((message.content, message.annotations), (whole.content, whole.annotations))
        self.assertEqual((message.reasoning_content, answer.usage.total_tokens), (whole.reasoning_content, 236))

    @on_both_paths
    def test_usage_comes_last_and_on_request(self, model):
        chunks = list(create(model, "Say hello.", stream=True))
        self.assertEqual(([chunk.usage for chunk in chunks], chunks[-1].choices[0].finish_reason), ([None] * len(chunks), "stop"))
        chunks = list(create(model, "Say hello.", stream=True, stream_options={"include_usage": True}))
        self.assertEqual([chunk.usage is None for chunk in chunks], [True] * (len(chunks) - 1) + [False])
        self.assertEqual((chunks[-1].choices, chunks[-1].usage.total_tokens), ([], 118))

    @on_both_paths
    def test_long_answer_is_complete(self, model):
        text = script([{"repeat": ["多少个字？Many. ", 20_000]}])
        expected = "多少个字？Many. " * 20_000
        self.assertEqual(create(model, text).choices[0].message.content, expected)
        chunks = create(model, text, stream=True)
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), expected)

    @on_both_paths
    def test_output_limit_is_reported(self, model):
        cut_short = create(model, script(["Onc", {"finish": "length"}]), max_tokens=1).choices[0]
        self.assertEqual((cut_short.message.content, cut_short.finish_reason), ("Onc", "length"))

    @on_both_paths
    def test_structured_output_is_parsed_only_if_complete(self, model):
        def parse(*reply):
            messages = [{"role": "user", "content": script(list(reply))}]
            return client.chat.completions.parse(model=model, messages=messages, response_format=Location)

        self.assertEqual(parse('{"city": ', '"Paris"}').choices[0].message.parsed, Location(city="Paris"))
        with self.assertRaises(openai.LengthFinishReasonError):
            parse('{"ci', {"finish": "length"})
        with self.assertRaises(openai.ContentFilterFinishReasonError):
            parse('{"ci', {"finish": "content_filter"})

    def test_model_list_includes_agents(self):
        self.assertEqual([model.id for model in client.models.list()], [*PATHS, "agent:default"])
        self.assertEqual(client.models.retrieve("agent:default").owned_by, "lambda-chat")
        self.assertEqual(create("agent:default", "Say hello.").choices[0].message.content, "Hello!")

    @on_both_paths
    def test_disconnect_ends_the_turn(self, model):
        stream = create(model, script(["One", {"hold": f"python-{model}"}, "two"]), stream=True)
        first = next(chunk for chunk in stream if chunk.choices[0].delta.content)
        self.assertEqual(first.choices[0].delta.content, "One")
        stream.close()
        wait_for_disconnect(f"python-{model}")

    @on_both_paths
    def test_deltas_arrive_while_the_model_writes(self, model):
        stream = create(model, script(["One", {"hold": f"python-slow-{model}"}, " two"]), stream=True)
        deltas = (chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content)
        self.assertEqual(next(deltas), "One")
        release(f"python-slow-{model}")
        self.assertEqual(list(deltas), [" two"])


class Tools(unittest.TestCase):
    @on_both_paths
    def test_client_tool_loop_ends_with_an_answer(self, model):
        for stream in (False, True):
            messages = [{"role": "user", "content": script([WEATHER], ["21 °C."])}]
            first = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            self.assertEqual(first.finish_reason, "tool_calls")
            [call] = first.message.tool_calls
            self.assertEqual((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Paris"}))
            messages += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "21 °C"}]
            last = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            self.assertEqual((last.finish_reason, last.message.content), ("stop", "21 °C."))

    @on_both_paths
    def test_parallel_calls_take_results_in_any_order(self, model):
        cities = [{"call": ["get_weather", {"city": city}]} for city in ("Paris", "Rome")]
        messages = [{"role": "user", "content": script(cities, ["Both are warm."])}]
        for stream in (False, True):
            first = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            calls = first.message.tool_calls
            self.assertEqual([json.loads(call.function.arguments)["city"] for call in calls], ["Paris", "Rome"])
            self.assertEqual(len({call.id for call in calls}), 2)
            results = [{"role": "tool", "tool_call_id": call.id, "content": "warm"} for call in reversed(calls)]
            last = self.complete(stream, model=model, messages=[*messages, first.message, *results], tools=[TOOL])
            self.assertEqual(last.message.content, "Both are warm.")
        one = self.complete(False, model=model, messages=messages, tools=[TOOL], parallel_tool_calls=False)
        self.assertEqual(len(one.message.tool_calls), 1)

    @on_both_paths
    def test_server_search_is_hidden_from_the_client(self, model):
        messages = [{"role": "user", "content": script([SEARCH], [WEATHER])}]
        for stream in (False, True):
            answer = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            self.assertEqual([call.function.name for call in answer.message.tool_calls], ["get_weather"])
            self.assertTrue(answer.message.annotations)

    @on_both_paths
    def test_pydantic_tool_gives_its_object(self, model):
        messages = [{"role": "user", "content": script([{"call": ["Location", {"city": "Paris"}]}])}]
        request = {"model": model, "messages": messages, "tools": [openai.pydantic_function_tool(Location)]}
        for choice in ("auto", "required", {"type": "function", "function": {"name": "Location"}}):
            whole = client.chat.completions.parse(**request, tool_choice=choice).choices[0]
            streamed = self.complete(True, **request, tool_choice=choice)
            for answer in (whole, streamed):
                self.assertEqual(answer.message.tool_calls[0].function.parsed_arguments, Location(city="Paris"))

    @on_both_paths
    def test_tool_choice_none_calls_no_tool(self, model):
        messages = [{"role": "user", "content": "Say hello."}]
        answer = self.complete(False, model=model, messages=messages, tools=[TOOL], tool_choice="none")
        self.assertEqual((answer.message.content, answer.message.tool_calls), ("Hello!", None))

    def complete(self, stream, **request):
        if not stream:
            return client.chat.completions.create(**request).choices[0]
        with client.chat.completions.stream(**request) as events:
            return events.get_final_completion().choices[0]


class Errors(unittest.TestCase):
    def test_each_rejection_has_its_error_class(self):
        picture = [{"type": "image_url", "image_url": {"url": "data:,"}}]
        for make, kind, status, code, param in [
            (lambda: create("nobody", "Hi"), openai.NotFoundError, 404, "model_not_found", "model"),
            (lambda: client.models.retrieve("nobody"), openai.NotFoundError, 404, "model_not_found", "model"),
            (lambda: create("native", "Hi", n=2), openai.BadRequestError, 400, "invalid_request", "n"),
            (lambda: create("native", picture), openai.BadRequestError, 400, "invalid_attachment", None),
            (lambda: client.embeddings.create(model="x", input="x"), openai.NotFoundError, 404, "not_found", None),
        ]:
            with self.assertRaises(kind) as raised:
                make()
            error = raised.exception
            self.assertEqual((error.status_code, error.code, error.param), (status, code, param))
            self.assertTrue(error.body["message"] and error.request_id)

    def test_authentication_and_rate_limit_have_error_classes(self):
        unknown = OpenAI(base_url=GUARDED, api_key="lc_nobody", max_retries=0)
        with self.assertRaises(openai.AuthenticationError) as raised:
            unknown.models.list()
        self.assertEqual(raised.exception.code, "invalid_api_key")
        known = OpenAI(base_url=GUARDED, api_key=KEYS["openai-python"], max_retries=0)
        request = {"model": "native", "messages": [{"role": "user", "content": "Say hello."}]}
        self.assertEqual(known.chat.completions.create(**request).choices[0].message.content, "Hello!")
        with self.assertRaises(openai.RateLimitError) as raised:
            known.chat.completions.create(**request, stream=True)
        self.assertEqual(raised.exception.code, "rate_limit_exceeded")
        self.assertTrue(0 < int(raised.exception.response.headers["retry-after"]) <= 60)

    @on_both_paths
    def test_immediate_model_failure_is_a_status(self, model):
        for status, kind, code in [
            (400, openai.InternalServerError, "upstream_rejected"),
            (401, openai.InternalServerError, "upstream_auth"),
            (429, openai.RateLimitError, "rate_limit_exceeded"),
        ]:
            for stream in (False, True):
                with self.subTest(status=status, stream=stream), self.assertRaises(kind) as raised:
                    create(model, script([{"fail": status}]), stream=stream)
                self.assertEqual(raised.exception.code, code)

    @on_both_paths
    def test_later_model_failure_is_a_stream_error(self, model):
        stream = create(model, script(["One", {"cut": True}]), stream=True)
        deltas = []
        with self.assertRaises(openai.APIError) as raised:
            deltas.extend(chunk.choices[0].delta.content for chunk in stream)
        self.assertEqual((deltas, raised.exception.code), (["", "One"], "upstream_disconnected"))
        with self.assertRaises(openai.InternalServerError) as raised:
            create(model, script(["One", {"cut": True}]))
        self.assertEqual((raised.exception.status_code, raised.exception.code), (502, "upstream_disconnected"))


if __name__ == "__main__":
    unittest.main()
