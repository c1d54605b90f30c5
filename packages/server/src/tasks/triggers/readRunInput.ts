import { maxInputBytes } from "@scheduling/domain/executions/RunRequest"
import {
  MalformedJson,
  PayloadTooLarge,
  UnsupportedMediaType
} from "@scheduling/domain/shared/Errors"
import { Effect, type Schema } from "effect"

/**
 * Converts a request's body to the input of a run: JSON as it is, a form as an object of its
 * fields, and plain text as a string.
 */
export const readRunInput = (
  contentType: string | undefined,
  body: string
): Effect.Effect<Schema.Json, MalformedJson | PayloadTooLarge | UnsupportedMediaType> => {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "application/json"
  switch (true) {
    case type === "application/x-www-form-urlencoded":
      return checkSize(Object.fromEntries(new URLSearchParams(body)))
    case type === "text/plain":
      return checkSize(body)
    case /[/+]json$/.test(type):
      return Effect.flatMap(parseJson(body), checkSize)
    default:
      return Effect.fail(unsupported)
  }
}

/** Fails if the text exceeds the maximum size of a run's input. */
export const checkInputSize = (text: string): Effect.Effect<void, PayloadTooLarge> =>
  Buffer.byteLength(text) > maxInputBytes ? Effect.fail(tooLarge) : Effect.void

const parseJson = (body: string): Effect.Effect<Schema.Json, MalformedJson> =>
  Effect.try({ try: () => JSON.parse(body) as Schema.Json, catch: () => new MalformedJson() })

/**
 * Checks the size of the input after it was parsed, because escapes can make it longer than the
 * body.
 */
const checkSize = (input: Schema.Json) => Effect.as(checkInputSize(JSON.stringify(input)), input)

const tooLarge = new PayloadTooLarge({
  message: "The body is larger than 64 KiB, the limit of the input of a run. Send a smaller one."
})

const unsupported = new UnsupportedMediaType({
  message:
    "The Content-Type must be application/json, application/x-www-form-urlencoded or text/plain."
})
