/**
 * A workspace's definitions as one document: `apply` changes the records to match the document, and
 * `export` returns the document. Each kind of record is applied by its own service, whose handlers
 * are registered in `DefinedKinds`.
 */
import { Layer } from "effect"
import { Definitions } from "./Definitions.ts"
import { DefinitionsRepo } from "./DefinitionsRepo.ts"
import { DefinitionsHandlers } from "./http.ts"

export const DefinitionsLayer = DefinitionsHandlers.pipe(
  Layer.provide(Definitions.layer),
  Layer.provide(DefinitionsRepo.layer)
)
