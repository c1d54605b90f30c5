import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { AgentEnded } from "./Refusal.ts"
import { GivenSettings } from "./settings.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(GivenSettings), {
  onExcessProperty: "error"
})

const read = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error) =>
      new AgentEnded(`cannot read ${file}: ${error instanceof Error ? error.message : error}`, 64)
  })

export const readSettingsFile = (file: string): Effect.Effect<GivenSettings, AgentEnded> =>
  Effect.flatMap(read(file), (text) =>
    Effect.mapError(decode(text), (error) => new AgentEnded(`${file}: ${error.message}`, 64))
  )

export const readTokenFile = (file: string): Effect.Effect<string, AgentEnded> =>
  Effect.map(read(file), (text) => text.trim())
