import { Schema } from "effect"

const maxLabels = 20

/** What a worker can reach, or where it is: tasks name the labels that their worker must have. */
export const Label = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:/=-]{0,62}$/, {
    expected: "at most 63 letters, digits and . _ : / = - that start with a letter or digit",
    toJsonSchema: () => ({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:/=-]{0,62}$" })
  })
).annotate({ examples: ["office"] })

const each = Schema.isUnique({ expected: "each label once" })

/** The labels of a worker. It may have none. */
export const WorkerLabels = Schema.Array(Label)
  .check(each, Schema.isMaxLength(maxLabels))
  .annotate({
    description: "What the worker offers, by which tasks choose it.",
    examples: [["office", "gpu"]]
  })

/** The labels that a worker must have, at least one. */
export const NeededLabels = Schema.Array(Label)
  .check(each, Schema.isBetweenLength(1, maxLabels))
  .annotate({ description: "The labels that a worker must have.", examples: [["office"]] })
