"""The published `ChatOpenAI` of LangChain against the server with a scripted model."""

import unittest

import openai
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from scripted import GUARDED, KEYS, PATHS, SEARCH, SEARCHED, WEATHER, script


@tool
def get_weather(city: str) -> str:
    """The weather in a city now."""
    return f"21 °C in {city}"


class LangChain(unittest.TestCase):
    def test_stream_equals_whole_answer(self):
        for path in PATHS:
            model = ChatOpenAI(model=path, max_retries=0)
            whole = model.invoke([SystemMessage("Be brief."), HumanMessage(script(*SEARCHED))])
            self.assertEqual((whole.content, whole.tool_calls), ("A chat backend 🙂 [1].", []))
            used = {name: whole.usage_metadata[name] for name in ("input_tokens", "output_tokens", "total_tokens")}
            self.assertEqual(used, {"input_tokens": 222, "output_tokens": 14, "total_tokens": 236})
            chunks = list(model.stream(script(*SEARCHED), stream_usage=True))
            together = sum(chunks[1:], chunks[0])
            self.assertEqual((together.content, together.usage_metadata["total_tokens"]), (whole.content, 236))
            self.assertEqual(together.response_metadata["finish_reason"], "stop")

    def test_bound_tools_run_at_the_client(self):
        for path in PATHS:
            model = ChatOpenAI(model=path, max_retries=0).bind_tools([get_weather])
            for rounds in ([WEATHER], [SEARCH, WEATHER]):
                question = HumanMessage(script(*([call] for call in rounds), ["21 °C."]))
                chunks = list(model.stream([question]))
                for first in (model.invoke([question]), sum(chunks[1:], chunks[0])):
                    [call] = first.tool_calls
                    self.assertEqual((call["name"], call["args"]), ("get_weather", {"city": "Paris"}))
                    result = get_weather.invoke(call)
                    self.assertIsInstance(result, ToolMessage)
            # The history holds one assistant message, without the hidden search.
            question = HumanMessage(script([WEATHER, WEATHER], ["21 °C."]))
            first = model.invoke([question])
            last = model.invoke([question, first, *(get_weather.invoke(call) for call in first.tool_calls)])
            self.assertEqual((len(first.tool_calls), last.content), (2, "21 °C."))

    def test_schema_gives_an_object(self):
        schema = {"title": "Location", "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        model = ChatOpenAI(model="native", max_retries=0)
        message = script(['{"city": "Paris"}'])
        self.assertEqual(model.with_structured_output(schema).invoke(message), {"city": "Paris"})
        message = script([{"call": ["Location", {"city": "Paris"}]}])
        called = model.with_structured_output(schema, method="function_calling")
        self.assertEqual(called.invoke(message), {"city": "Paris"})

    def test_errors_are_those_of_openai(self):
        with self.assertRaises(openai.NotFoundError):
            ChatOpenAI(model="nobody", max_retries=0).invoke("Hi")
        with self.assertRaises(openai.AuthenticationError):
            ChatOpenAI(model="native", base_url=GUARDED, api_key="lc_nobody", max_retries=0).invoke("Hi")
        limited = ChatOpenAI(model="native", base_url=GUARDED, api_key=KEYS["langchain"], max_retries=0)
        self.assertEqual(limited.invoke("Say hello.").content, "Hello!")
        with self.assertRaises(openai.RateLimitError):
            limited.invoke("Say hello.")
        for path in PATHS:
            chunks = []
            with self.assertRaises(openai.APIError):
                chunks.extend(ChatOpenAI(model=path, max_retries=0).stream(script(["One", {"cut": True}])))
            self.assertEqual("".join(chunk.content for chunk in chunks), "One")


if __name__ == "__main__":
    unittest.main()
