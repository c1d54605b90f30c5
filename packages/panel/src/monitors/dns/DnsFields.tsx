import type { DnsMatch, DnsMonitor, DnsMonitorInput, DnsRecordType } from "@scheduling/sdk"
import { Field, Input, Select, Textarea } from "../../ui/forms/Field.tsx"
import { parseTags } from "../../ui/forms/parseTags.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CheckFields } from "../checks/CheckFields.tsx"
import { checkInputOf, checkValuesOf, newCheckValues } from "../checks/checkValues.ts"
import { NameAndTagsFields } from "../NameAndTagsFields.tsx"

export const newDnsValues = {
  name: "",
  tags: "",
  host: "",
  record_type: "A" as DnsRecordType,
  resolver: "",
  expected_values: "",
  match: "all" as DnsMatch,
  ...newCheckValues
}

export type DnsValues = typeof newDnsValues & { readonly version?: number }

export const dnsValuesOf = (monitor: DnsMonitor): DnsValues => ({
  version: monitor.version,
  name: monitor.name,
  tags: monitor.tags.join(", "),
  host: monitor.host,
  record_type: monitor.record_type,
  resolver: monitor.resolver ?? "",
  expected_values: monitor.expected_values?.join("\n") ?? "",
  match: monitor.match,
  ...checkValuesOf(monitor)
})

export const dnsInputOf = (values: DnsValues): DnsMonitorInput => {
  const expected = values.expected_values
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  return {
    name: values.name.trim() || `${values.record_type} ${values.host.trim()}`,
    tags: parseTags(values.tags),
    host: values.host.trim(),
    record_type: values.record_type,
    resolver: values.resolver.trim() || null,
    expected_values: expected.length === 0 ? null : expected,
    match: values.match,
    ...checkInputOf(values)
  }
}

const types = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT"] as const

export const dnsMatchLabels: Readonly<Record<DnsMatch, string>> = {
  all: "All of these values",
  exactly: "Exactly these values",
  any: "At least one of these values"
}

export const DnsFields = ({ form }: { readonly form: FormOf<DnsValues> }) => {
  const { errorOf } = form
  return (
    <>
      <Section title="Records">
        <Card className="flex flex-col gap-5 p-5">
          <Field label="Host" error={errorOf("host") ?? errorOf("record_type")}>
            <div className="flex gap-2">
              <Select
                aria-label="Record type"
                id={undefined}
                options={types.map((type) => [type, type])}
                {...form.text("record_type")}
                className="shrink-0"
              />
              <Input
                {...form.text("host")}
                autoFocus
                mono
                required
                spellCheck={false}
                placeholder="www.example.com"
              />
            </div>
          </Field>
          <Field
            label="Expected values"
            hint="One per line. Leave empty to accept any response with a record."
            error={errorOf("expected_values")}
          >
            <Textarea {...form.text("expected_values")} mono spellCheck={false} rows={3} />
          </Field>
          <div className="grid gap-5 sm:grid-cols-2">
            <Field label="The response must have" error={errorOf("match")}>
              <Select options={Object.entries(dnsMatchLabels)} {...form.text("match")} />
            </Field>
            <Field
              label="Name server"
              hint="An IP address. Defaults to the name server of the service."
              error={errorOf("resolver")}
            >
              <Input {...form.text("resolver")} mono spellCheck={false} placeholder="9.9.9.9" />
            </Field>
          </div>
        </Card>
      </Section>
      <Section title="Monitor">
        <Card className="flex flex-col gap-5 p-5">
          <NameAndTagsFields
            form={form}
            hint="Defaults to the record type and the host."
            example="DNS of the site"
            tagsExample="dns"
          />
          <CheckFields {...form.group} />
        </Card>
      </Section>
    </>
  )
}
