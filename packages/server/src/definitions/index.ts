/**
 * The definitions of a workspace as one document: `apply` makes the records as the document says, and
 * `export` gives the document back. Each kind of record is applied by its own service, which its
 * handlers add to `DefinedKinds`.
 */
import { Layer } from "effect"
import { Definitions } from "./Definitions.ts"
import { DefinitionsRepo } from "./DefinitionsRepo.ts"
import { DefinitionsHandlers } from "./http.ts"

export const DefinitionsLayer = DefinitionsHandlers.pipe(
  Layer.provide(Definitions.layer),
  Layer.provide(DefinitionsRepo.layer)
)
