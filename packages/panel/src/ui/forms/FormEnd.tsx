import type { Role } from "@scheduling/sdk"
import { useRef } from "react"
import { AskBeforeLeaving } from "../actions/AskBeforeLeaving.tsx"
import { Button } from "../actions/Button.tsx"
import { Problem } from "../messages/Problem.tsx"
import { useHasRole, roleNeeded } from "../role.tsx"
import { ConcurrentEdits } from "./ConcurrentEdits.tsx"
import type { Edits } from "./useEdits.ts"

/** The end of a form: its buttons, and problems that belong to no field. */
export const FormEnd = ({
  action,
  form,
  isLong = false,
  look = "main",
  needs,
  onCancel
}: {
  readonly action: string
  readonly form: {
    readonly problem: unknown
    readonly isBusy: boolean
    readonly isChanged: boolean
    readonly attention: ReadonlyArray<string>
    readonly edits: Edits
  }
  /** True for a long form: fields may be out of view, and leaving would lose much input. */
  readonly isLong?: boolean
  readonly look?: "main" | "danger" | "plain"
  readonly onCancel?: () => void
  /** The role required to submit the form. Other members see which role that is. */
  readonly needs?: Role
}) => {
  const { attention } = form
  const isGivenUp = useRef(false)
  const isHeld = !useHasRole()(needs)
  return (
    <div className="flex flex-col gap-4">
      <ConcurrentEdits edits={form.edits} />
      <Problem error={form.problem} />
      {isLong && attention.length > 0 && (
        <p className="text-sm text-bad">
          {attention.length === 1
            ? "1 field needs attention"
            : `${attention.length} fields need attention`}
          : {attention.join(", ")}
        </p>
      )}
      {isHeld && needs !== undefined && <p className="text-sm text-soft">{roleNeeded(needs)}</p>}
      <div className="flex gap-2">
        <Button type="submit" look={look} busy={form.isBusy} disabled={isHeld}>
          {action}
        </Button>
        {onCancel !== undefined && (
          <Button
            onClick={() => {
              isGivenUp.current = true
              onCancel()
            }}
          >
            Cancel
          </Button>
        )}
      </div>
      {isLong && (
        <AskBeforeLeaving
          title="Leave without saving?"
          mayLose={() => form.isChanged && !form.isBusy && !isGivenUp.current}
        >
          Your changes are lost.
        </AskBeforeLeaving>
      )}
    </div>
  )
}
