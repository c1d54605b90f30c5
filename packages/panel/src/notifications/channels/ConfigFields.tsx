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
  /** The stored configuration, with masked secrets. */
  readonly shown: Config | undefined
  readonly onChange: (name: string, text: string) => void
  readonly errorOf: (name: string) => string | undefined
}) =>
  fields.map((field) => {
    const { hint, isRequired, isSecret, label, maxLength, name, options, type } = field
    const text = texts[name] ?? ""
    const change = (event: { readonly target: { readonly value: string } }) =>
      onChange(name, event.target.value)
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
            ? `${hint ?? ""} If this is empty, the value stays the same.`.trim()
            : hint
        }
        error={errorOf(name)}
      >
        {options === undefined ? (
          <Input
            mono
            type={isSecret ? "password" : type}
            autoComplete={isSecret ? "new-password" : "off"}
            spellCheck={false}
            required={isRequired && masked === undefined}
            maxLength={maxLength}
            placeholder={typeof masked === "string" ? masked : undefined}
            value={text}
            onChange={change}
          />
        ) : (
          <Select
            options={[
              ...(isRequired ? [] : [["", "Default"] as const]),
              ...options.map((option) => [option, option] as const)
            ]}
            value={text}
            onChange={change}
          />
        )}
      </Field>
    )
  })
