import { Braces } from "lucide-react"
import { type RefObject, use } from "react"
import { secretReference } from "../../secrets/secretValues.ts"
import { useSecrets } from "../../secrets/SecretField.tsx"
import { classes } from "../../ui/classes.ts"
import { Menu, menuItemClass, MenuSeparator } from "../../ui/actions/Menu.tsx"
import { ReferenceSuggestions, openReferencePattern } from "./ReferenceSuggestions.tsx"
import { StepResponses, valuesInResponse } from "./stepResponses.ts"

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

const valuesOfStep = (step: string, answer: string | undefined) => [
  [`steps.${step}.status`, "The status code of its response"] as const,
  [`steps.${step}.body`, "The body of its response"] as const,
  ...(answer === undefined ? [] : valuesInResponse(step, answer))
]

/**
 * A menu of values that inserts the selected value at the cursor, as `{{ … }}`. Typing `{{` into
 * the field suggests the same values.
 */
export const InsertValueMenu = ({
  control,
  into,
  isIcon = false,
  onChange,
  steps
}: {
  readonly control: RefObject<HTMLInputElement | HTMLTextAreaElement | null>
  /** The label of the field that receives the value, for screen readers. */
  readonly into: string
  readonly isIcon?: boolean
  readonly onChange: (text: string) => void
  /** The names of the chain's earlier steps. Null if only secrets are allowed. */
  readonly steps: ReadonlyArray<string> | null
}) => {
  const answers = use(StepResponses)
  const ofRun =
    steps === null
      ? []
      : [...steps.flatMap((step) => valuesOfStep(step, answers.get(step))), ...values]
  const insert = (reference: string) => {
    const { current } = control
    if (current === null) return
    const { selectionEnd, selectionStart, value } = current
    const caret = selectionStart ?? value.length
    // If the user has typed the beginning of a reference, complete it.
    const start = openReferencePattern.exec(value.slice(0, caret))?.index ?? caret
    const rest = value.slice(selectionEnd ?? caret)
    onChange(value.slice(0, start) + reference + (start < caret ? rest.replace(closing, "") : rest))
    // The field contains the inserted text only after the next render.
    requestAnimationFrame(() => {
      const end = start + reference.length
      current.focus()
      current.setSelectionRange(end, end)
    })
  }
  return (
    <>
      <Menu
        label={`Insert value into ${into}`}
        className={
          isIcon
            ? "mt-0.5 grid size-8 shrink-0 place-items-center rounded-md text-faint pointer-coarse:mt-0 pointer-coarse:size-10 transition-colors duration-100 hover:bg-sunken hover:text-ink"
            : "min-h-6 text-sm text-faint hover:text-ink pointer-coarse:-my-2 pointer-coarse:py-2.5"
        }
        button={isIcon ? <Braces className="size-4" /> : <span aria-hidden>Insert value</span>}
      >
        <Values values={ofRun} onSelect={insert} />
      </Menu>
      <ReferenceSuggestions
        control={control}
        values={ofRun}
        onInsert={(name) => insert(`{{ ${name} }}`)}
      />
    </>
  )
}

/** Matches the end of a reference, after the caret. */
const closing = /^\s*\}\}/

/** The menu's items. Secrets are fetched when the menu opens. */
const Values = ({
  onSelect,
  values: ofRun
}: {
  readonly values: ReadonlyArray<readonly [name: string, meaning: string]>
  readonly onSelect: (reference: string) => void
}) => {
  const { data: secrets = [] } = useSecrets()
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
      {secrets.length > 0 && ofRun.length > 0 && <MenuSeparator />}
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
    className={classes(menuItemClass, "max-w-[min(28rem,calc(100vw-2rem))] justify-between")}
  >
    <span className="font-mono text-sm">{name}</span>
    <span className="min-w-0 truncate text-sm text-faint">{meaning}</span>
  </button>
)
