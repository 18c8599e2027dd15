// What a component loads once.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { failureText } from "./failures.ts";

/** Loads a value when the component appears; null until then, and after a failure, whose text is in `failure`. */
export function useLoaded<Value>(load: () => Promise<Value>): { value: Value | null; failure: string } {
  const value = useSignal<Value | null>(null);
  const failure = useSignal("");
  useEffect(() => {
    load().then((loaded) => (value.value = loaded), (thrown: unknown) => (failure.value = failureText(thrown)));
  }, []);
  return { value: value.value, failure: failure.value };
}
