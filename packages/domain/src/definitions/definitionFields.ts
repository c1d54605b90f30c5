import { ignoredField } from "../shared/requests/putBody.ts"
import { type DefinedKind, definitionOfKind } from "./DefinitionsDocument.ts"

/**
 * Input fields that are not part of a stored definition: `queue_key` and `delay_seconds` only
 * express `queue_id` and `run_at` in another way, and `ping_id` is a secret.
 */
const derived: ReadonlySet<string> = new Set(["delay_seconds", "ping_id", "queue_key", "version"])

/** Returns the names of the response fields that make up a definition of the kind. */
export const definitionFields = (kind: DefinedKind): ReadonlyArray<string> => {
  const fields: Readonly<Record<string, unknown>> = definitionOfKind[kind].fields
  const names = Object.keys(fields).filter(
    (name) => fields[name] !== ignoredField && !derived.has(name)
  )
  return kind === "notification_settings" ? names : ["key", ...names]
}
