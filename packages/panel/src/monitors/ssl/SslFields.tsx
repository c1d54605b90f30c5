import type { SslMonitor, SslMonitorInput, SslProtocol } from "@scheduling/sdk"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { FieldProblem } from "../../ui/forms/issues.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { DurationField } from "../../ui/forms/DurationField.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { NameAndTagsFields } from "../NameAndTagsFields.tsx"
import { parseHostAndPort } from "./parseHostAndPort.ts"
import * as bounds from "../../data/bounds.ts"

export const newSslValues = {
  name: "",
  tags: "",
  host: "",
  port: "",
  protocol: "tls" as SslProtocol,
  server_name: "",
  warn_days: "30, 14, 7, 3, 1",
  check_interval_seconds: 21_600 as number | null
}

export type SslValues = typeof newSslValues & { readonly version?: number }

export const sslValuesOf = (monitor: SslMonitor): SslValues => ({
  version: monitor.version,
  name: monitor.name,
  tags: monitor.tags.join(", "),
  host: monitor.host,
  port: String(monitor.port),
  protocol: monitor.protocol,
  server_name: monitor.server_name ?? "",
  warn_days: monitor.warn_days.join(", "),
  check_interval_seconds: monitor.check_interval_seconds
})

const daysOf = (text: string): ReadonlyArray<number> => {
  const { max, min } = bounds.SslMonitorInput.warn_days.each
  const days = parseTags(text).map(Number)
  if (!days.every((day) => Number.isInteger(day) && day >= min && day <= max)) {
    throw new FieldProblem(
      "warn_days",
      `Enter whole numbers from ${min} to ${max}, separated by commas.`
    )
  }
  return days
}

export const sslInputOf = ({
  host: given,
  port: number,
  ...values
}: SslValues): SslMonitorInput => {
  const { host, port } = parseHostAndPort({ host: given, port: number })
  return {
    name: values.name.trim() || host,
    tags: parseTags(values.tags),
    host,
    protocol: values.protocol,
    server_name: values.server_name.trim() || null,
    warn_days: daysOf(values.warn_days),
    check_interval_seconds: values.check_interval_seconds ?? 0,
    ...(port !== "" && { port: Number(port) })
  }
}

export const protocolNames: Readonly<Record<SslProtocol, string>> = {
  tls: "TLS (HTTPS and others)",
  smtp: "SMTP with STARTTLS",
  imap: "IMAP with STARTTLS",
  pop3: "POP3 with STARTTLS",
  postgres: "PostgreSQL"
}

const ports = { tls: "443", smtp: "587", imap: "143", pop3: "110", postgres: "5432" }

export const SslFields = ({ form }: { readonly form: FormOf<SslValues> }) => {
  const { errorOf, set, values } = form
  return (
    <>
      <Section title="Server">
        <Card className="flex flex-col gap-5 p-5">
          <div className="grid gap-5 sm:grid-cols-[1fr_8rem]">
            <Field label="Host" error={errorOf("host")}>
              <Input
                {...form.text("host")}
                autoFocus
                onBlur={() => set(parseHostAndPort(values))}
                mono
                required
                spellCheck={false}
                placeholder="www.example.com"
              />
            </Field>
            <Field label="Port" error={errorOf("port")}>
              <Input
                {...form.text("port")}
                type="number"
                {...bounds.SslMonitorInput.port}
                placeholder={ports[values.protocol]}
              />
            </Field>
          </div>
          <Field label="Protocol" error={errorOf("protocol")}>
            <Select options={Object.entries(protocolNames)} {...form.text("protocol")} />
          </Field>
          <Field
            label="Server name"
            hint="The name that the certificate must cover. Defaults to the host."
            error={errorOf("server_name")}
          >
            <Input {...form.text("server_name")} mono spellCheck={false} />
          </Field>
        </Card>
      </Section>
      <Section title="Monitor">
        <Card className="flex flex-col gap-5 p-5">
          <NameAndTagsFields
            form={form}
            hint="Defaults to the host."
            example="Website"
            tagsExample="web"
          />
          <Field
            label="Warn before expiry (days)"
            hint="One warning per number, for the certificate and its issuers."
            error={errorOf("warn_days")}
          >
            <Input {...form.text("warn_days")} />
          </Field>
          <DurationField
            label="Check every"
            limits={bounds.SslMonitorInput.check_interval_seconds}
            {...form.field("check_interval_seconds")}
          />
        </Card>
      </Section>
    </>
  )
}
