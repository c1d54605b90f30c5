import { text } from "../Text.ts"

/** The `name` filter of lists: a part of the name in any letter case. */
export const NameFilter = text({ min: 1, max: 200 }).annotate({
  description: "Shows records whose name contains this text, in upper or lower case.",
  examples: ["report"]
})
