import { Schema } from "effect"

const maxLabels = 20

/**
 * A worker's label, such as its location or a network that it can reach. A task names the labels
 * that its worker must have.
 */
export const Label = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:/=-]{0,62}$/, {
    expected: "at most 63 letters, digits and . _ : / = - that start with a letter or digit",
    toJsonSchema: () => ({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:/=-]{0,62}$" })
  })
).annotate({ examples: ["office"] })

const each = Schema.isUnique({ expected: "each label once" })

export const WorkerLabels = Schema.Array(Label)
  .check(each, Schema.isMaxLength(maxLabels))
  .annotate({
    description: "The labels by which tasks choose the worker.",
    examples: [["office", "gpu"]]
  })

export const RequiredLabels = Schema.Array(Label)
  .check(each, Schema.isBetweenLength(1, maxLabels))
  .annotate({ description: "The labels that a worker must have.", examples: [["office"]] })
