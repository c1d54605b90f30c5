import {
  type ComponentProps,
  createContext,
  type ReactNode,
  use,
  useEffect,
  useId,
  useImperativeHandle,
  useRef
} from "react"
import { classes } from "../classes.ts"

interface Described {
  readonly id: string
  readonly describedBy: string | undefined
  readonly isInvalid: boolean
}

const FieldContext = createContext<Described | undefined>(undefined)

export const Field = ({
  children,
  error,
  hint,
  label,
  side
}: {
  readonly label: ReactNode
  readonly children: ReactNode
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly side?: ReactNode
}) => {
  const id = useId()
  const hasHint = hint !== undefined
  const isInvalid = error !== undefined
  const describedBy = [hasHint && `${id}-hint`, isInvalid && `${id}-error`]
    .filter(Boolean)
    .join(" ")
  return (
    <div className="flex min-w-0 flex-col gap-1.5" data-invalid={isInvalid ? "" : undefined}>
      <div className="flex items-baseline justify-between gap-3">
        <label htmlFor={id} className="text-sm font-medium text-soft">
          {label}
        </label>
        {side}
      </div>
      <FieldContext value={{ id, isInvalid, describedBy: describedBy || undefined }}>
        {children}
      </FieldContext>
      {hasHint && (
        <p id={`${id}-hint`} className="text-xs text-faint">
          {hint}
        </p>
      )}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  )
}

export const FieldError = ({
  error,
  id
}: {
  readonly id?: string
  readonly error: string | undefined
}) =>
  error !== undefined && (
    <p id={id} role="alert" className="text-sm text-bad">
      {error}
    </p>
  )

const useControl = () => {
  const field = use(FieldContext)
  return field === undefined
    ? {}
    : {
        id: field.id,
        "aria-describedby": field.describedBy,
        "aria-invalid": field.isInvalid || undefined
      }
}

const box =
  "w-full rounded-lg border border-line bg-surface text-base shadow-card pointer-coarse:text-lg transition-colors duration-100 hover:border-edge focus:border-live focus:outline-2 focus:outline-live/30 focus:outline-offset-0 aria-invalid:border-bad disabled:opacity-60"

export const Input = ({
  className,
  maxLength = Infinity,
  mono = false,
  ref,
  refusal,
  ...rest
}: ComponentProps<"input"> & {
  readonly mono?: boolean
  /** Why the value is invalid, for the browser's validation message. */
  readonly refusal?: string | undefined
}) => {
  const { length } = String(rest.value ?? "")
  // The browser's own `maxlength` would silently truncate pasted text.
  const excess =
    length > maxLength
      ? `This has ${length} characters. At most ${maxLength} are allowed.`
      : undefined
  const control = useRef<HTMLInputElement>(null)
  useEffect(() => control.current?.setCustomValidity(refusal ?? excess ?? ""), [refusal, excess])
  useImperativeHandle(ref, () => control.current as HTMLInputElement)
  const field = useControl()
  return (
    <>
      <input
        {...field}
        {...(excess !== undefined && { "aria-invalid": true })}
        {...rest}
        ref={control}
        className={classes(
          box,
          "h-9 px-3 pointer-coarse:h-10",
          mono && "font-mono text-sm",
          className
        )}
      />
      <FieldError error={excess} />
    </>
  )
}

export const Textarea = ({
  className,
  mono = false,
  ...rest
}: ComponentProps<"textarea"> & { readonly mono?: boolean }) => (
  <textarea
    {...useControl()}
    rows={4}
    {...rest}
    className={classes(
      box,
      "field-sizing-content min-h-20 px-3 py-2",
      mono && "font-mono text-sm",
      className
    )}
  />
)

/** A native select, which works with keyboard, touch and screen readers. */
export const Select = ({
  className,
  options,
  ...rest
}: Omit<ComponentProps<"select">, "children"> & {
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
}) => (
  <span className={classes("relative inline-block", className)}>
    <select
      {...useControl()}
      {...rest}
      className={classes(box, "h-9 appearance-none py-0 pr-8 pl-3 pointer-coarse:h-10")}
    >
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
    <span
      aria-hidden
      className="pointer-events-none absolute top-1/2 right-3 size-2 -translate-y-2/3 rotate-45 border-r-[1.5px] border-b-[1.5px] border-faint"
    />
  </span>
)

export const Checkbox = ({
  children,
  className,
  hint,
  ...rest
}: ComponentProps<"input"> & { readonly hint?: ReactNode }) => (
  <label className={classes("flex items-start gap-2.5 pointer-coarse:py-2", className)}>
    <input type="checkbox" {...rest} className="mt-[3px] size-4 shrink-0 accent-ink" />
    <span className="min-w-0">
      {children}
      {hint !== undefined && <span className="block text-xs text-faint">{hint}</span>}
    </span>
  </label>
)

export const RadioButtons = <Value extends string>({
  hasLabel = false,
  hint,
  label,
  onChange,
  options,
  value
}: {
  readonly label: string
  /** An explanation below the buttons of a group whose label is shown. */
  readonly hint?: string
  /** True to show the label above the buttons. Otherwise, only screen readers read it. */
  readonly hasLabel?: boolean
  readonly value: Value
  readonly options: ReadonlyArray<readonly [value: Value, label: string]>
  readonly onChange: (value: Value) => void
}) => {
  const name = useId()
  const buttons = (
    <div
      role="radiogroup"
      aria-label={label}
      aria-describedby={hint === undefined ? undefined : `${name}-hint`}
      className="flex h-9 w-fit items-center gap-0.5 rounded-lg bg-sunken p-0.5 pointer-coarse:h-10"
    >
      {options.map(([option, text]) => (
        <label
          key={option}
          className="relative flex h-8 cursor-pointer pointer-coarse:h-9 items-center rounded-md px-3 text-sm font-medium text-faint transition-colors duration-100 hover:text-ink has-checked:bg-chosen has-checked:text-ink has-checked:shadow-card has-focus-visible:outline-2 has-focus-visible:outline-live"
        >
          <input
            type="radio"
            name={name}
            value={option}
            checked={option === value}
            onChange={() => onChange(option)}
            className="absolute -inset-0.5 cursor-pointer opacity-0"
          />
          {text}
        </label>
      ))}
    </div>
  )
  return hasLabel ? (
    <div className="flex flex-col items-start gap-1.5">
      <span aria-hidden className="text-sm font-medium text-soft">
        {label}
      </span>
      {buttons}
      {hint !== undefined && (
        <p id={`${name}-hint`} className="text-xs text-faint">
          {hint}
        </p>
      )}
    </div>
  ) : (
    buttons
  )
}
