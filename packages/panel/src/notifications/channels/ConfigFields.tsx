import { useRef } from "react"
import { InsertValueMenu } from "../../tasks/call/InsertValueMenu.tsx"
import { Checkbox, Field, Input, Select } from "../../ui/forms/Field.tsx"
import type { Config, ConfigField } from "./configSchema.ts"

export const ConfigFields = ({
  errorOf,
  fields,
  onChange,
  shown,
  texts
}: {
  readonly fields: ReadonlyArray<ConfigField>
  readonly texts: Readonly<Record<string, string>>
  /** The stored configuration, with its secrets masked. */
  readonly shown: Config | undefined
  readonly onChange: (name: string, text: string) => void
  readonly errorOf: (name: string) => string | undefined
}) =>
  fields.map((field) => {
    const { hint, isRequired, isSecret, label, name, options, type } = field
    const text = texts[name] ?? ""
    if (type === "boolean") {
      return (
        <Checkbox
          key={name}
          hint={hint}
          checked={text === "true"}
          onChange={({ target }) => onChange(name, String(target.checked))}
        >
          {label}
        </Checkbox>
      )
    }
    const masked = isSecret ? shown?.[name] : undefined
    return (
      <Field
        key={name}
        label={isRequired ? label : `${label} (optional)`}
        hint={
          typeof masked === "string"
            ? `${hint ?? ""} Leave empty to keep the current value.`.trim()
            : hint
        }
        error={errorOf(name)}
      >
        {options === undefined ? (
          <ConfigInput
            field={field}
            isRequired={isRequired && masked === undefined}
            placeholder={typeof masked === "string" ? masked : undefined}
            value={text}
            onChange={(changed) => onChange(name, changed)}
          />
        ) : (
          <Select
            options={[
              ...(isRequired ? [] : [["", "Default"] as const]),
              ...options.map((option) => [option, option] as const)
            ]}
            value={text}
            onChange={({ target }) => onChange(name, target.value)}
          />
        )}
      </Field>
    )
  })

/** A text input. URL and secret fields can use one of the workspace's secrets. */
const ConfigInput = ({
  field: { isSecret, label, maxLength, type },
  isRequired,
  onChange,
  placeholder,
  value
}: {
  readonly field: ConfigField
  readonly isRequired: boolean
  readonly placeholder: string | undefined
  readonly value: string
  readonly onChange: (text: string) => void
}) => {
  const control = useRef<HTMLInputElement>(null)
  const isReference = value.startsWith("{{")
  return (
    <div className="flex gap-1">
      <Input
        mono
        ref={control}
        className="min-w-0 grow"
        // An input of the type `url` would reject a URL that contains a reference to a secret.
        type={isSecret && !isReference ? "password" : type === "url" ? "text" : type}
        inputMode={type === "url" ? "url" : undefined}
        autoComplete={isSecret ? "new-password" : "off"}
        spellCheck={false}
        required={isRequired}
        maxLength={maxLength}
        placeholder={placeholder}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {(isSecret || type === "url") && (
        <InsertValueMenu isIcon control={control} into={label} steps={null} onChange={onChange} />
      )}
    </div>
  )
}
