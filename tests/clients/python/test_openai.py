"""The package `openai` as published, against the product with a scripted model."""

import json
import unittest

import openai
from openai import OpenAI
from pydantic import BaseModel
from scripted import GUARDED, KEYS, PATHS, SEARCH, SEARCHED, WEATHER, left, release, words

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city now.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

client = OpenAI(max_retries=0)


class Place(BaseModel):
    city: str


def ask(model, text, **more):
    return client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **more)


def of_both(test):
    """Runs a test on both paths."""

    def both(self):
        for model in PATHS:
            with self.subTest(model):
                test(self, model)

    return both


class Answers(unittest.TestCase):
    @of_both
    def test_an_answer_is_whole_with_its_sources_and_usage(self, model):
        answer = ask(model, words(*SEARCHED))
        [choice] = answer.choices
        text = choice.message.content
        self.assertEqual((answer.model, text, choice.finish_reason), (model, "A chat backend 🙂 [1].", "stop"))
        self.assertEqual((choice.message.tool_calls, choice.message.reasoning_content), (None, "A page says it. "))
        cited = choice.message.annotations[0].url_citation
        self.assertEqual(text[cited.start_index : cited.end_index], "[1]")
        self.assertTrue(cited.url.startswith("https://example.com/") and cited.title)
        used = answer.usage
        self.assertEqual((used.prompt_tokens, used.completion_tokens, used.total_tokens), (22, 14, 36))

    @of_both
    def test_a_stream_adds_up_to_the_same_answer(self, model):
        whole = ask(model, words(*SEARCHED)).choices[0].message
        messages = [{"role": "user", "content": words(*SEARCHED)}]
        options = {"stream_options": {"include_usage": True}}
        with client.chat.completions.stream(model=model, messages=messages, **options) as stream:
            kinds = {event.type for event in stream}
            answer = stream.get_final_completion()
        message = answer.choices[0].message
        self.assertTrue({"chunk", "content.delta", "content.done"} <= kinds)
        self.assertEqual((message.content, message.annotations), (whole.content, whole.annotations))
        self.assertEqual((message.reasoning_content, answer.usage.total_tokens), (whole.reasoning_content, 36))

    @of_both
    def test_usage_comes_only_where_it_is_asked_for_and_last(self, model):
        chunks = list(ask(model, "Say hello.", stream=True))
        self.assertEqual(([chunk.usage for chunk in chunks], chunks[-1].choices[0].finish_reason), ([None] * len(chunks), "stop"))
        chunks = list(ask(model, "Say hello.", stream=True, stream_options={"include_usage": True}))
        self.assertEqual([chunk.usage is None for chunk in chunks], [True] * (len(chunks) - 1) + [False])
        self.assertEqual((chunks[-1].choices, chunks[-1].usage.total_tokens), ([], 18))

    @of_both
    def test_a_long_answer_is_whole(self, model):
        text = words([{"repeat": ["多少个字？Many. ", 20_000]}])
        expected = "多少个字？Many. " * 20_000
        self.assertEqual(ask(model, text).choices[0].message.content, expected)
        chunks = ask(model, text, stream=True)
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), expected)

    @of_both
    def test_a_limit_that_was_met_is_told(self, model):
        cut_short = ask(model, words(["Onc", {"finish": "length"}]), max_tokens=1).choices[0]
        self.assertEqual((cut_short.message.content, cut_short.finish_reason), ("Onc", "length"))

    @of_both
    def test_a_form_is_parsed_and_what_is_cut_short_is_not(self, model):
        def parse(*reply):
            messages = [{"role": "user", "content": words(list(reply))}]
            return client.chat.completions.parse(model=model, messages=messages, response_format=Place)

        self.assertEqual(parse('{"city": ', '"Paris"}').choices[0].message.parsed, Place(city="Paris"))
        with self.assertRaises(openai.LengthFinishReasonError):
            parse('{"ci', {"finish": "length"})
        with self.assertRaises(openai.ContentFilterFinishReasonError):
            parse('{"ci', {"finish": "content_filter"})

    def test_models_are_listed_and_an_agent_is_one(self):
        self.assertEqual([model.id for model in client.models.list()], [*PATHS, "agent:default"])
        self.assertEqual(client.models.retrieve("agent:default").owned_by, "lambda-chat")
        self.assertEqual(ask("agent:default", "Say hello.").choices[0].message.content, "Hello!")

    @of_both
    def test_a_client_that_leaves_ends_the_turn(self, model):
        stream = ask(model, words(["One", {"hold": f"python-{model}"}, "two"]), stream=True)
        first = next(chunk for chunk in stream if chunk.choices[0].delta.content)
        self.assertEqual(first.choices[0].delta.content, "One")
        stream.close()
        left(f"python-{model}")

    @of_both
    def test_words_come_while_the_model_still_writes(self, model):
        stream = ask(model, words(["One", {"hold": f"python-slow-{model}"}, " two"]), stream=True)
        said = (chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content)
        self.assertEqual(next(said), "One")
        release(f"python-slow-{model}")
        self.assertEqual(list(said), [" two"])


class Tools(unittest.TestCase):
    @of_both
    def test_a_loop_over_the_callers_tools_ends_with_an_answer(self, model):
        for stream in (False, True):
            messages = [{"role": "user", "content": words([WEATHER], ["21 °C."])}]
            first = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            self.assertEqual(first.finish_reason, "tool_calls")
            [call] = first.message.tool_calls
            self.assertEqual((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Paris"}))
            messages += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "21 °C"}]
            last = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            self.assertEqual((last.finish_reason, last.message.content), ("stop", "21 °C."))

    @of_both
    def test_several_calls_come_at_once_and_their_results_in_any_order(self, model):
        cities = [{"call": ["get_weather", {"city": city}]} for city in ("Paris", "Rome")]
        messages = [{"role": "user", "content": words(cities, ["Both are warm."])}]
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

    @of_both
    def test_our_search_runs_before_the_callers_tool_and_is_not_seen(self, model):
        messages = [{"role": "user", "content": words([SEARCH], [WEATHER])}]
        for stream in (False, True):
            answer = self.complete(stream, model=model, messages=messages, tools=[TOOL])
            self.assertEqual([call.function.name for call in answer.message.tool_calls], ["get_weather"])
            self.assertTrue(answer.message.annotations)

    @of_both
    def test_a_tool_that_is_derived_from_a_class_gives_its_object(self, model):
        messages = [{"role": "user", "content": words([{"call": ["Place", {"city": "Paris"}]}])}]
        request = {"model": model, "messages": messages, "tools": [openai.pydantic_function_tool(Place)]}
        for choice in ("auto", "required", {"type": "function", "function": {"name": "Place"}}):
            whole = client.chat.completions.parse(**request, tool_choice=choice).choices[0]
            streamed = self.complete(True, **request, tool_choice=choice)
            for answer in (whole, streamed):
                self.assertEqual(answer.message.tool_calls[0].function.parsed_arguments, Place(city="Paris"))

    @of_both
    def test_no_tool_is_called_where_none_shall_be(self, model):
        messages = [{"role": "user", "content": "Say hello."}]
        answer = self.complete(False, model=model, messages=messages, tools=[TOOL], tool_choice="none")
        self.assertEqual((answer.message.content, answer.message.tool_calls), ("Hello!", None))

    def complete(self, stream, **request):
        if not stream:
            return client.chat.completions.create(**request).choices[0]
        with client.chat.completions.stream(**request) as events:
            return events.get_final_completion().choices[0]


class Errors(unittest.TestCase):
    def test_each_refusal_is_raised_as_its_class(self):
        picture = [{"type": "image_url", "image_url": {"url": "data:,"}}]
        for make, kind, status, code, param in [
            (lambda: ask("nobody", "Hi"), openai.NotFoundError, 404, "model_not_found", "model"),
            (lambda: client.models.retrieve("nobody"), openai.NotFoundError, 404, "model_not_found", "model"),
            (lambda: ask("native", "Hi", n=2), openai.BadRequestError, 400, "invalid_request", "n"),
            (lambda: ask("native", picture), openai.BadRequestError, 400, "invalid_request", "messages[0].content"),
            (lambda: client.embeddings.create(model="x", input="x"), openai.NotFoundError, 404, "not_found", None),
        ]:
            with self.assertRaises(kind) as raised:
                make()
            error = raised.exception
            self.assertEqual((error.status_code, error.code, error.param), (status, code, param))
            self.assertTrue(error.body["message"] and error.request_id)

    def test_a_key_is_asked_for_and_a_limit_says_when_to_come_again(self):
        stranger = OpenAI(base_url=GUARDED, api_key="lc_nobody", max_retries=0)
        with self.assertRaises(openai.AuthenticationError) as raised:
            stranger.models.list()
        self.assertEqual(raised.exception.code, "invalid_api_key")
        known = OpenAI(base_url=GUARDED, api_key=KEYS["openai-python"], max_retries=0)
        request = {"model": "native", "messages": [{"role": "user", "content": "Say hello."}]}
        self.assertEqual(known.chat.completions.create(**request).choices[0].message.content, "Hello!")
        with self.assertRaises(openai.RateLimitError) as raised:
            known.chat.completions.create(**request, stream=True)
        self.assertEqual(raised.exception.code, "rate_limit_exceeded")
        self.assertTrue(0 < int(raised.exception.response.headers["retry-after"]) <= 60)

    @of_both
    def test_a_model_that_fails_at_once_is_a_status(self, model):
        for status, kind, code in [
            (400, openai.InternalServerError, "upstream_rejected"),
            (401, openai.InternalServerError, "upstream_auth"),
            (429, openai.RateLimitError, "rate_limit_exceeded"),
        ]:
            for stream in (False, True):
                with self.subTest(status=status, stream=stream), self.assertRaises(kind) as raised:
                    ask(model, words([{"fail": status}]), stream=stream)
                self.assertEqual(raised.exception.code, code)

    @of_both
    def test_a_model_that_breaks_off_is_an_error_in_the_stream(self, model):
        stream = ask(model, words(["One", {"cut": True}]), stream=True)
        said = []
        with self.assertRaises(openai.APIError) as raised:
            said.extend(chunk.choices[0].delta.content for chunk in stream)
        self.assertEqual((said, raised.exception.code), (["", "One"], "upstream_disconnected"))
        with self.assertRaises(openai.InternalServerError) as raised:
            ask(model, words(["One", {"cut": True}]))
        self.assertEqual((raised.exception.status_code, raised.exception.code), (502, "upstream_disconnected"))


if __name__ == "__main__":
    unittest.main()
