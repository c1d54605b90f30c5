import type { CallMethod } from "@scheduling/sdk"
import { Plus, X } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "../../ui/actions/Button.tsx"
import { Field, Input, Select, Textarea } from "../../ui/forms/Field.tsx"
import { RunsOnFields } from "../../workers/RunsOnFields.tsx"
import { maxTimeoutOf } from "./callOptionValues.ts"
import { type CallValues, hasBody, methods } from "./callValues.ts"
import * as bounds from "../../data/bounds.ts"

/** What to call. */
export const CallFields = ({
  errorOf,
  isTemplate = false,
  onChange,
  values
}: {
  /** Whether it may use the answers of earlier steps. */
  readonly isTemplate?: boolean
  readonly values: CallValues
  readonly onChange: (change: Partial<CallValues>) => void
  readonly errorOf: (field: keyof CallValues) => string | undefined
}) => (
  <>
    <Field label="URL" error={errorOf("url") ?? errorOf("method")}>
      <div className="flex gap-2">
        <Select
          aria-label="Method"
          id={undefined}
          options={methods.map((method) => [method, method])}
          value={values.method}
          onChange={(event) => onChange({ method: event.target.value as CallMethod })}
          className="shrink-0"
        />
        <Input
          type={isTemplate ? "text" : "url"}
          mono
          required
          placeholder="https://api.example.com/jobs/nightly"
          value={values.url}
          onChange={(event) => onChange({ url: event.target.value })}
        />
      </div>
    </Field>
    <RunsOnFields values={values} onChange={onChange} errorOf={errorOf} />
    <HeaderFields
      headers={values.headers}
      error={errorOf("headers")}
      onChange={(headers) => onChange({ headers })}
    />
    {hasBody(values.method) && (
      <Field
        label="Body"
        hint="Sent as application/json, unless a content-type header says otherwise."
        error={errorOf("body")}
      >
        <Textarea
          mono
          spellCheck={false}
          value={values.body}
          onChange={(event) => onChange({ body: event.target.value })}
        />
      </Field>
    )}
  </>
)

const HeaderFields = ({
  error,
  headers,
  onChange
}: {
  readonly headers: CallValues["headers"]
  readonly error: string | undefined
  readonly onChange: (headers: CallValues["headers"]) => void
}) => {
  const [added, setAdded] = useState<number>()
  const change = (at: number, header: readonly [string, string]) =>
    onChange(headers.map((one, index) => (index === at ? header : one)))
  return (
    <fieldset
      className="flex flex-col gap-2"
      data-invalid={error === undefined ? undefined : "Headers"}
    >
      <legend className="mb-1.5 text-sm font-medium text-soft">Headers</legend>
      {headers.map(([name, value], index) => (
        <div key={index} className="flex gap-2">
          <Input
            mono
            autoFocus={index === added}
            aria-label={`Name of header ${index + 1}`}
            className="w-2/5"
            placeholder="authorization"
            value={name}
            onChange={(event) => change(index, [event.target.value, value])}
          />
          <Input
            mono
            aria-label={`Value of header ${index + 1}`}
            value={value}
            onChange={(event) => change(index, [name, event.target.value])}
          />
          <IconButton
            label={`Remove header ${index + 1}`}
            className="mt-0.5"
            onClick={() => {
              setAdded(undefined)
              onChange(headers.filter((_, at) => at !== index))
            }}
          >
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
      <div>
        <Button
          size="small"
          icon={<Plus className="size-3.5" />}
          onClick={() => {
            setAdded(headers.length)
            onChange([...headers, ["", ""]])
          }}
        >
          Add a header
        </Button>
      </div>
    </fieldset>
  )
}

/** How long a call may take, and how often it is made again. */
export const LimitFields = ({
  errorOf,
  onChange,
  values
}: {
  readonly values: CallValues
  readonly onChange: (change: Partial<CallValues>) => void
  readonly errorOf: (field: keyof CallValues) => string | undefined
}) => (
  <div className="grid grid-cols-2 gap-4">
    <Field
      label="Timeout, seconds"
      hint={values.completion === "" ? undefined : "Until the job says that it is done."}
      error={errorOf("timeout_seconds")}
    >
      <Input
        type="number"
        min={bounds.CronTaskInput.timeout_seconds.min}
        max={maxTimeoutOf(values)}
        required
        value={values.timeout_seconds}
        onChange={(event) => onChange({ timeout_seconds: event.target.value })}
      />
    </Field>
    <Field
      label="Retries"
      hint="After a timeout, 408, 425, 429, 5xx or a lost connection."
      error={errorOf("retry_count")}
    >
      <Input
        type="number"
        {...bounds.CronTaskInput.retry_count}
        required
        value={values.retry_count}
        onChange={(event) => onChange({ retry_count: event.target.value })}
      />
    </Field>
  </div>
)
