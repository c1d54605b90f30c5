import type { HttpMonitor, HttpMonitorInput } from "@scheduling/sdk"
import * as bounds from "../../data/bounds.ts"
import { AuthFields } from "../../tasks/call/AuthFields.tsx"
import { authInputOf, authValuesOf } from "../../tasks/call/authValues.ts"
import { HeaderFields } from "../../tasks/call/CallFields.tsx"
import { canHaveBody, type FormHeader, callMethods } from "../../tasks/call/callValues.ts"
import { Checkbox, Field, Input, Select, Textarea } from "../../ui/forms/Field.tsx"
import { FieldProblem } from "../../ui/forms/issues.ts"
import { countChanged } from "../../ui/forms/merge.ts"
import { parseTags } from "../../ui/forms/parseTags.ts"
import type { FormOf } from "../../ui/forms/useForm.ts"
import { CollapsibleSection } from "../../ui/layout/CollapsibleSection.tsx"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { CheckFields } from "../checks/CheckFields.tsx"
import { checkInputOf, checkValuesOf, newCheckValues } from "../checks/checkValues.ts"
import { NameAndTagsFields } from "../NameAndTagsFields.tsx"

export const newHttpValues = {
  name: "",
  tags: "",
  method: "GET" as HttpMonitor["method"],
  url: "",
  headers: [] as ReadonlyArray<FormHeader>,
  auth: authValuesOf(null),
  body: "",
  follow_redirects: true,
  success_codes: "",
  body_contains: "",
  body_lacks: "",
  json_path: "",
  json_equals: "",
  max_latency_ms: "",
  min_certificate_days: "",
  ...newCheckValues
}

export type HttpValues = typeof newHttpValues & { readonly version?: number }

const textOf = (value: number | string | null) => String(value ?? "")

export const httpValuesOf = (monitor: HttpMonitor): HttpValues => ({
  version: monitor.version,
  name: monitor.name,
  tags: monitor.tags.join(", "),
  method: monitor.method,
  url: monitor.url,
  headers: Object.entries(monitor.headers),
  auth: authValuesOf(monitor.auth),
  body: textOf(monitor.body),
  follow_redirects: monitor.follow_redirects,
  success_codes: monitor.success_codes?.join(", ") ?? "",
  body_contains: textOf(monitor.body_contains),
  body_lacks: textOf(monitor.body_lacks),
  json_path: monitor.body_json?.path ?? "",
  json_equals: monitor.body_json === null ? "" : JSON.stringify(monitor.body_json.equals),
  max_latency_ms: textOf(monitor.max_latency_ms),
  min_certificate_days: textOf(monitor.min_certificate_days),
  ...checkValuesOf(monitor)
})

const numberOf = (text: string) => (text === "" ? null : Number(text))

const jsonRuleOf = ({ json_equals, json_path }: HttpValues): HttpMonitorInput["body_json"] => {
  const path = json_path.trim()
  if (path === "") return null
  try {
    return { path, equals: JSON.parse(json_equals) }
  } catch {
    throw new FieldProblem("json_equals", 'Enter JSON, such as "ok", 1 or true.')
  }
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)

export const httpInputOf = (values: HttpValues): HttpMonitorInput => {
  const url = values.url.trim()
  const codes = values.success_codes.split(/[\s,;]+/).filter((code) => code !== "")
  return {
    name: values.name.trim() || hostOf(url),
    tags: parseTags(values.tags),
    method: values.method,
    url,
    headers: Object.fromEntries(
      values.headers
        .map(([name, value]) => [name.trim(), value] as const)
        .filter(([name]) => name !== "")
    ),
    auth: authInputOf(values.auth),
    body: values.body === "" || !canHaveBody(values.method) ? null : values.body,
    follow_redirects: values.follow_redirects,
    success_codes: codes.length === 0 ? null : codes,
    body_contains: values.body_contains || null,
    body_lacks: values.body_lacks || null,
    body_json: jsonRuleOf(values),
    max_latency_ms: numberOf(values.max_latency_ms),
    min_certificate_days: numberOf(values.min_certificate_days),
    ...checkInputOf(values)
  }
}

const requestFields = ["auth", "headers", "body", "follow_redirects"] as const

const ruleFields = [
  "success_codes",
  "json_path",
  "json_equals",
  "max_latency_ms",
  "min_certificate_days"
] as const

export const HttpFields = ({ form }: { readonly form: FormOf<HttpValues> }) => {
  const { errorOf } = form
  return (
    <>
      <Section title="Request">
        <Card className="flex flex-col gap-5 p-5">
          <Field label="URL" error={errorOf("url") ?? errorOf("method")}>
            <div className="flex gap-2">
              <Select
                aria-label="Method"
                id={undefined}
                options={callMethods.map((method) => [method, method])}
                {...form.text("method")}
                className="shrink-0"
              />
              <Input
                {...form.text("url")}
                type="url"
                mono
                required
                autoFocus
                spellCheck={false}
                placeholder="https://www.example.com/health"
              />
            </div>
          </Field>
          <CollapsibleSection
            summary="Headers, body and authentication"
            count={countChanged<HttpValues>(newHttpValues, form.values, requestFields)}
          >
            <RequestFields form={form} />
          </CollapsibleSection>
        </Card>
      </Section>
      <RuleFields form={form} />
      <Section title="Monitor">
        <Card className="flex flex-col gap-5 p-5">
          <NameAndTagsFields
            form={form}
            hint="Defaults to the host."
            example="Shop"
            tagsExample="web"
          />
          <CheckFields {...form.group} />
        </Card>
      </Section>
    </>
  )
}

const RequestFields = ({ form }: { readonly form: FormOf<HttpValues> }) => {
  const { errorOf, set, values } = form
  return (
    <div className="flex flex-col gap-5">
      <AuthFields {...form.group} />
      <HeaderFields
        headers={values.headers}
        error={errorOf("headers")}
        onChange={(headers) => set({ headers })}
      />
      {canHaveBody(values.method) && (
        <Field
          label="Body"
          hint="Sent as application/json, unless a content-type header says otherwise."
          error={errorOf("body")}
        >
          <Textarea {...form.text("body")} mono spellCheck={false} />
        </Field>
      )}
      <Checkbox
        checked={values.follow_redirects}
        onChange={({ target }) => set({ follow_redirects: target.checked })}
      >
        Follow redirects
      </Checkbox>
    </div>
  )
}

const RuleFields = ({ form }: { readonly form: FormOf<HttpValues> }) => {
  const { errorAt, errorOf } = form
  return (
    <Section title="Expected response">
      <Card className="flex flex-col gap-5 p-5">
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="Response contains" error={errorOf("body_contains")}>
            <Input
              {...form.text("body_contains")}
              mono
              {...bounds.HttpMonitorInput.body_contains}
              placeholder="Welcome"
            />
          </Field>
          <Field label="Response does not contain" error={errorOf("body_lacks")}>
            <Input
              {...form.text("body_lacks")}
              mono
              {...bounds.HttpMonitorInput.body_lacks}
              placeholder="Fatal error"
            />
          </Field>
        </div>
        <CollapsibleSection
          summary="Status, JSON, latency and certificate"
          count={countChanged<HttpValues>(newHttpValues, form.values, ruleFields)}
        >
          <div className="flex flex-col gap-5">
            <Field
              label="Status codes"
              hint="Codes and ranges, such as 200-299, 401. Defaults to 200-299."
              error={errorOf("success_codes")}
            >
              <Input {...form.text("success_codes")} mono placeholder="200-299" />
            </Field>
            <div className="grid gap-5 sm:grid-cols-2">
              <Field
                label="JSON path"
                hint="The path of a value in a JSON response."
                error={errorAt("body_json", "path")}
              >
                <Input {...form.text("json_path")} mono placeholder="checks[0].status" />
              </Field>
              <Field
                label="Equals"
                error={errorOf("json_equals") ?? errorAt("body_json", "equals")}
              >
                <Input {...form.text("json_equals")} mono placeholder={'"ok"'} />
              </Field>
            </div>
            <div className="grid gap-5 sm:grid-cols-2">
              <Field label="Maximum latency (ms)" error={errorOf("max_latency_ms")}>
                <Input
                  {...form.text("max_latency_ms")}
                  type="number"
                  {...bounds.HttpMonitorInput.max_latency_ms}
                />
              </Field>
              <Field
                label="Minimum days until the certificate expires"
                hint="To be warned without the monitor going down, use an SSL monitor."
                error={errorOf("min_certificate_days")}
              >
                <Input
                  {...form.text("min_certificate_days")}
                  type="number"
                  {...bounds.HttpMonitorInput.min_certificate_days}
                />
              </Field>
            </div>
          </div>
        </CollapsibleSection>
      </Card>
    </Section>
  )
}
