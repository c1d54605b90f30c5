import { Schema } from "effect"

const uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

const maxIdsAtOnce = 100

/** A query parameter that lists many ids. */
export const manyIds = (ofWhat: string, example: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${uuid}(?:,${uuid}){0,${maxIdsAtOnce - 1}}$`), {
      expected: `1 to ${maxIdsAtOnce} UUIDs separated by commas`
    })
  ).annotate({
    description: `The ids of ${ofWhat}, separated by commas. At most ${maxIdsAtOnce}.`,
    examples: [example]
  })

export const parseIds = (ids: string): ReadonlyArray<string> => [...new Set(ids.split(","))]
