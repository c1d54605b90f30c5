import { Braces } from "lucide-react"
import type { RefObject } from "react"
import { secretReference } from "../../secrets/secretValues.ts"
import { useSecrets } from "../../secrets/SecretField.tsx"
import { classes } from "../../ui/classes.ts"
import { Menu, menuItem, MenuLine } from "../../ui/actions/Menu.tsx"

const values: ReadonlyArray<readonly [name: string, meaning: string]> = [
  ["run.id", "The id of the run"],
  ["run.attempt", "1 for the first attempt"],
  ["run.scheduled_for", "When the run was due"],
  ["run.scheduled_for.date", "The day on which it was due, in UTC"],
  ["task.name", "The name of the task"],
  ["task.key", "The key of the task"],
  ["input", "The input of a manual run"],
  ["now", "When the attempt began"],
  ["now.unix", "The same time in seconds since 1970"],
  ["uuid", "A new UUID"]
]

const valuesOfStep = (step: string) => [
  [`steps.${step}.status`, "The status code of its response"] as const,
  [`steps.${step}.body`, "The body of its response"] as const
]

/** A menu of values. Inserts the chosen value at the cursor, as `{{ … }}`. */
export const InsertValue = ({
  control,
  into,
  isIcon = false,
  onChange,
  steps
}: {
  readonly control: RefObject<HTMLInputElement | HTMLTextAreaElement | null>
  /** The label of the field that the value is inserted into, for screen readers. */
  readonly into: string
  readonly isIcon?: boolean
  readonly onChange: (text: string) => void
  /** The names of the earlier steps of a chain. Null if only secrets are allowed. */
  readonly steps: ReadonlyArray<string> | null
}) => {
  const insert = (reference: string) => {
    const { current } = control
    if (current === null) return
    const { selectionEnd, selectionStart, value } = current
    const start = selectionStart ?? value.length
    onChange(value.slice(0, start) + reference + value.slice(selectionEnd ?? start))
    // The control has the new text only after rendering.
    requestAnimationFrame(() => {
      const caret = start + reference.length
      current.focus()
      current.setSelectionRange(caret, caret)
    })
  }
  return (
    <Menu
      label={`Insert value into ${into}`}
      className={
        isIcon
          ? "mt-0.5 grid size-8 shrink-0 place-items-center rounded-md text-faint transition-colors duration-100 hover:bg-sunken hover:text-ink"
          : "text-sm text-faint hover:text-ink"
      }
      button={isIcon ? <Braces className="size-4" /> : <span aria-hidden>Insert value</span>}
    >
      <Values steps={steps} onSelect={insert} />
    </Menu>
  )
}

/** The items of the menu. Secrets are fetched when it opens. */
const Values = ({
  onSelect,
  steps
}: {
  readonly steps: ReadonlyArray<string> | null
  readonly onSelect: (reference: string) => void
}) => {
  const { data: secrets = [] } = useSecrets()
  const ofRun = steps === null ? [] : [...steps.flatMap(valuesOfStep), ...values]
  return (
    <>
      {secrets.map(({ description, name }) => (
        <ValueItem
          key={name}
          name={`secrets.${name}`}
          meaning={description ?? "Secret"}
          onSelect={() => onSelect(secretReference(name))}
        />
      ))}
      {secrets.length > 0 && ofRun.length > 0 && <MenuLine />}
      {secrets.length === 0 && ofRun.length === 0 && (
        <p className="px-3 py-2 text-sm text-faint">The workspace has no secrets yet.</p>
      )}
      {ofRun.map(([name, meaning]) => (
        <ValueItem
          key={name}
          name={name}
          meaning={meaning}
          onSelect={() => onSelect(`{{ ${name} }}`)}
        />
      ))}
    </>
  )
}

const ValueItem = ({
  meaning,
  name,
  onSelect
}: {
  readonly name: string
  readonly meaning: string
  readonly onSelect: () => void
}) => (
  <button
    type="button"
    role="menuitem"
    tabIndex={-1}
    onClick={onSelect}
    className={classes(menuItem, "max-w-[min(28rem,calc(100vw-2rem))] justify-between")}
  >
    <span className="font-mono text-sm">{name}</span>
    <span className="min-w-0 truncate text-sm text-faint">{meaning}</span>
  </button>
)
