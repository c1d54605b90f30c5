import { ignored } from "../shared/requests/putBody.ts"
import { type DefinedKind, definitionOfKind } from "./DefinitionsDocument.ts"

/** Fields that follow from others: the queue's key from its id, and `run_at` from the delay. */
const derived: ReadonlySet<string> = new Set(["delay_seconds", "queue_key", "version"])

/** The names of the fields that make up a definition of a kind, as an answer shows them. */
export const definedFields = (kind: DefinedKind): ReadonlyArray<string> => {
  const fields: Readonly<Record<string, unknown>> = definitionOfKind[kind].fields
  const names = Object.keys(fields).filter((name) => fields[name] !== ignored && !derived.has(name))
  return kind === "notification_settings" ? names : ["key", ...names]
}
