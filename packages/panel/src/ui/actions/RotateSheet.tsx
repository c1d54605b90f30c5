import { Field, Select } from "../forms/Field.tsx"
import { FormFooter } from "../forms/FormFooter.tsx"
import { useForm } from "../forms/useForm.ts"
import { Sheet } from "./Dialog.tsx"

const gracePeriods = [
  ["0", "Revoke it immediately"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "1 week"]
] as const

/** Asks how long the old secret should keep working, and rotates it. */
export const RotateSheet = ({
  description,
  onClose,
  onRotate,
  secret,
  title
}: {
  readonly title: string
  readonly description?: string
  /** The noun for the secret, such as `key`. */
  readonly secret: string
  readonly onRotate: (graceSeconds: number) => Promise<unknown>
  readonly onClose: () => void
}) => {
  const form = useForm({
    initial: { grace_seconds: "3600" },
    send: async ({ grace_seconds }) => {
      await onRotate(Number(grace_seconds))
      onClose()
    }
  })
  return (
    <Sheet isOpen onClose={onClose} title={title}>
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        {description !== undefined && <p className="text-soft">{description}</p>}
        <Field label={`Keep the old ${secret} working for`} error={form.errorOf("grace_seconds")}>
          <Select {...form.text("grace_seconds")} options={gracePeriods} />
        </Field>
        <FormFooter form={form} action={`Rotate ${secret}`} onCancel={onClose} />
      </form>
    </Sheet>
  )
}
