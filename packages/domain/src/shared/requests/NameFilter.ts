import { text } from "../Text.ts"

/** The `name` filter of list endpoints. Case-insensitive. */
export const NameFilter = text({ min: 1, max: 200 }).annotate({
  description: "Returns records whose name contains this text. Case-insensitive.",
  examples: ["report"]
})
