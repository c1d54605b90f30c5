import { Field, Input } from "../ui/forms/Field.tsx"
import type { ComponentProps } from "react"
import * as bounds from "../data/bounds.ts"

type Named = "name" | "tags"

export const NameAndTagsFields = ({
  example,
  form: { errorOf, text },
  hint,
  tagsExample = "billing, nightly"
}: {
  readonly form: {
    readonly errorOf: (field: Named) => string | undefined
    readonly text: (field: Named) => Pick<ComponentProps<"input">, "name" | "onChange" | "value">
  }
  readonly example: string
  readonly tagsExample?: string
  /** The default used for an empty name. Without a hint, the name is required. */
  readonly hint?: string
}) => (
  <>
    <Field label="Name" hint={hint} error={errorOf("name")}>
      <Input
        {...text("name")}
        required={hint === undefined}
        autoFocus={hint === undefined}
        {...bounds.HeartbeatMonitorInput.name}
        placeholder={example}
      />
    </Field>
    <Field label="Tags" hint="Separate tags with commas." error={errorOf("tags")}>
      <Input {...text("tags")} placeholder={tagsExample} />
    </Field>
  </>
)
