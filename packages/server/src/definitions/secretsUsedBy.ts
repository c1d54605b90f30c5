import { hasBraces, parseTemplate } from "@scheduling/domain/calls/Template"
import { Result } from "effect"

/** Collects the names of the secrets that the strings of a definition reference. */
export const secretsUsedBy = (value: unknown, names = new Set<string>()): ReadonlySet<string> => {
  if (typeof value === "string" && hasBraces(value)) {
    const parts = Result.getOrElse(parseTemplate(value), () => [])
    for (const part of parts) {
      if (typeof part !== "string" && part.root === "secrets") names.add(part.name)
    }
  } else if (typeof value === "object" && value !== null) {
    for (const field of Object.values(value)) secretsUsedBy(field, names)
  }
  return names
}
