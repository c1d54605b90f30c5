/**
 * The definitions of a workspace as one document: `apply` changes the records to match the
 * document, and `export` returns the document. The service of each kind applies its own records.
 * Its handlers add it to `DefinedKinds`.
 */
import { Layer } from "effect"
import { Definitions } from "./Definitions.ts"
import { DefinitionsRepo } from "./DefinitionsRepo.ts"
import { DefinitionsHandlers } from "./http.ts"

export const DefinitionsLayer = DefinitionsHandlers.pipe(
  Layer.provide(Definitions.layer),
  Layer.provide(DefinitionsRepo.layer)
)
