import type { NotificationChannel, NotificationKindInfo } from "@scheduling/sdk"
import { Card } from "../../ui/layout/Page.tsx"
import { Field, Input } from "../../ui/forms/Field.tsx"
import { FormFooter } from "../../ui/forms/FormFooter.tsx"
import { issuesOf } from "../../ui/forms/issues.ts"
import { parseTags } from "../../ui/forms/parseTags.ts"
import { type SendInput, sendInput } from "../../ui/forms/sendInput.ts"
import { useForm } from "../../ui/forms/useForm.ts"
import { ConfigFields } from "./ConfigFields.tsx"
import { type Config, valuesToConfig, configFieldsOf, configToValues } from "./configSchema.ts"
import * as bounds from "../../data/bounds.ts"

export const ChannelForm = ({
  action,
  channel,
  kind,
  latest,
  onCancel,
  onSend
}: {
  readonly kind: NotificationKindInfo
  readonly channel?: NotificationChannel
  readonly action: string
  readonly latest?: () => Promise<NotificationChannel>
  readonly onSend: SendInput<{
    readonly name: string
    readonly tags: ReadonlyArray<string>
    readonly config: Config
  }>
  readonly onCancel: () => void
}) => {
  const fields = configFieldsOf(kind.config_schema, kind.secret_fields)
  const valuesOf = ({
    config,
    name,
    tags,
    version
  }: Pick<NotificationChannel, "config" | "name" | "tags"> & { readonly version?: number }) => ({
    ...(version !== undefined && { version }),
    name,
    tags: tags.join(", "),
    config: configToValues(fields, config)
  })
  const inputOf = ({ config, name, tags }: ReturnType<typeof valuesOf>) => ({
    name: name.trim(),
    tags: parseTags(tags),
    config: valuesToConfig(fields, config, channel !== undefined)
  })
  const form = useForm({
    initial: valuesOf(channel ?? { name: "", tags: [], config: {} }),
    latest: latest && (async () => valuesOf(await latest())),
    send: sendInput(inputOf, onSend)
  })
  const { error, errorAt, set, values } = form
  const isElsewhere = issuesOf(error).some(({ path }) => path[0] === "config" && path.length === 1)
  return (
    <form className="flex flex-col gap-6" onSubmit={form.submit}>
      <Card className="flex flex-col gap-5 p-5">
        <Field label="Name" error={form.errorOf("name")}>
          <Input
            {...form.text("name")}
            required
            autoFocus
            {...bounds.NotificationChannelInput.name}
            placeholder="Operations"
          />
        </Field>
        <Field
          label="Tags"
          hint="To filter the list of channels. Separate tags with commas."
          error={form.errorOf("tags")}
        >
          <Input {...form.text("tags")} placeholder="team-a" />
        </Field>
        <ConfigFields
          fields={fields}
          texts={values.config}
          shown={channel?.config}
          errorOf={(name) => errorAt("config", name)}
          onChange={(name, text) => set({ config: { ...values.config, [name]: text } })}
        />
      </Card>
      <FormFooter
        isLong
        needs="editor"
        form={isElsewhere ? { ...form, problem: error } : form}
        action={action}
        onCancel={onCancel}
      />
    </form>
  )
}
