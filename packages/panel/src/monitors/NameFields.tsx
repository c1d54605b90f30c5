import { Field, Input } from "../ui/forms/Field.tsx"
import type { ComponentProps } from "react"
import * as bounds from "../data/bounds.ts"

type Named = "name" | "tags"

/** The name and the tags of a monitor. */
export const NameFields = ({
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
  /** What the name is if it is left empty. It is required without a hint. */
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
    <Field label="Tags" hint="Separate with commas." error={errorOf("tags")}>
      <Input {...text("tags")} placeholder={tagsExample} />
    </Field>
  </>
)
