import { useId } from "react"
import { Input } from "../../ui/forms/Field.tsx"

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")]

/** A time zone input that suggests zones by part of their name. */
export const ZoneInput = ({
  onChange,
  value
}: {
  readonly value: string
  readonly onChange: (zone: string) => void
}) => {
  const id = useId()
  return (
    <>
      <Input
        list={id}
        required
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={id}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}
