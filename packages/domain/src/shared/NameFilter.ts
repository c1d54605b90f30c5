import { text } from "./Text.ts"

/** The `name` filter of lists: a part of the name, in any case of letters. */
export const NameFilter = text({ min: 1, max: 200 }).annotate({
  description: "Shows what has this text in its name, in upper or lower case.",
  examples: ["report"]
})
