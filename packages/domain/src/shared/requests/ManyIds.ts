import { Schema } from "effect"

const uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

const maxIdsAtOnce = 100

/** The ids of many things in one parameter of a query. */
export const manyIds = (ofWhat: string, example: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${uuid}(?:,${uuid}){0,${maxIdsAtOnce - 1}}$`), {
      expected: `1 to ${maxIdsAtOnce} UUIDs with commas between them`
    })
  ).annotate({
    description: `The ids of ${ofWhat} with commas between them, at most ${maxIdsAtOnce}.`,
    examples: [example]
  })

export const idsIn = (ids: string): ReadonlyArray<string> => [...new Set(ids.split(","))]
