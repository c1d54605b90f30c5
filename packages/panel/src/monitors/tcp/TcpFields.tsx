import type { TcpMonitor, TcpMonitorInput } from "@scheduling/sdk"
import * as bounds from "../../data/bounds.ts"
import { Field, Input } from "../../ui/forms/Field.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CheckFields } from "../checks/CheckFields.tsx"
import { checkInputOf, checkValuesOf, newCheckValues } from "../checks/checkValues.ts"
import { unescapeLineBreaks, escapeLineBreaks } from "../checks/lineBreaks.ts"
import { NameAndTagsFields } from "../NameAndTagsFields.tsx"

export const newTcpValues = {
  name: "",
  tags: "",
  host: "",
  port: "",
  send: "",
  expect: "",
  ...newCheckValues
}

export type TcpValues = typeof newTcpValues & { readonly version?: number }

export const tcpValuesOf = (monitor: TcpMonitor): TcpValues => ({
  version: monitor.version,
  name: monitor.name,
  tags: monitor.tags.join(", "),
  host: monitor.host,
  port: String(monitor.port),
  send: escapeLineBreaks(monitor.send ?? ""),
  expect: escapeLineBreaks(monitor.expect ?? ""),
  ...checkValuesOf(monitor)
})

export const tcpInputOf = (values: TcpValues): TcpMonitorInput => ({
  name: values.name.trim() || `${values.host.trim()}:${values.port}`,
  tags: parseTags(values.tags),
  host: values.host.trim(),
  port: Number(values.port),
  send: unescapeLineBreaks(values.send) || null,
  expect: unescapeLineBreaks(values.expect) || null,
  ...checkInputOf(values)
})

export const TcpFields = ({ form }: { readonly form: FormOf<TcpValues> }) => {
  const { errorOf } = form
  return (
    <>
      <Section title="Server">
        <Card className="flex flex-col gap-5 p-5">
          <div className="grid gap-5 sm:grid-cols-[1fr_8rem]">
            <Field label="Host" error={errorOf("host")}>
              <Input
                {...form.text("host")}
                autoFocus
                mono
                required
                spellCheck={false}
                placeholder="cache.example.com"
              />
            </Field>
            <Field label="Port" error={errorOf("port")}>
              <Input
                {...form.text("port")}
                type="number"
                required
                {...bounds.TcpMonitorInput.port}
                placeholder="6379"
              />
            </Field>
          </div>
          <Field label="Send" hint="Write \r\n for the end of a line." error={errorOf("send")}>
            <Input
              {...form.text("send")}
              mono
              {...bounds.TcpMonitorInput.send}
              placeholder="PING\r\n"
            />
          </Field>
          <Field
            label="Expect"
            hint="Text that the server must send. Leave empty to accept any open connection."
            error={errorOf("expect")}
          >
            <Input
              {...form.text("expect")}
              mono
              {...bounds.TcpMonitorInput.expect}
              placeholder="+PONG"
            />
          </Field>
        </Card>
      </Section>
      <Section title="Monitor">
        <Card className="flex flex-col gap-5 p-5">
          <NameAndTagsFields
            form={form}
            hint="Defaults to the host and the port."
            example="Cache"
            tagsExample="cache"
          />
          <CheckFields {...form.group} />
        </Card>
      </Section>
    </>
  )
}
