import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { AgentExitError } from "./ServiceRejection.ts"
import { PartialSettings } from "./settings.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(PartialSettings), {
  onExcessProperty: "error"
})

const read = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error) =>
      new AgentExitError(
        `cannot read ${file}: ${error instanceof Error ? error.message : error}`,
        64
      )
  })

export const readSettingsFile = (file: string): Effect.Effect<PartialSettings, AgentExitError> =>
  Effect.flatMap(read(file), (text) =>
    Effect.mapError(decode(text), (error) => new AgentExitError(`${file}: ${error.message}`, 64))
  )

export const readTokenFile = (file: string): Effect.Effect<string, AgentExitError> =>
  Effect.map(read(file), (text) => text.trim())
