import type { Role } from "@scheduling/sdk"
import { useRef } from "react"
import { LeaveConfirmation } from "../actions/LeaveConfirmation.tsx"
import { Button } from "../actions/Button.tsx"
import { classes } from "../classes.ts"
import { Problem } from "../messages/Problem.tsx"
import { useHasRole, roleNeededMessage } from "../role.tsx"
import { ConcurrentEdits } from "./ConcurrentEdits.tsx"
import type { EditConflicts } from "./useEdits.ts"

/** The end of a form: its buttons, and problems that do not belong to a field. */
export const FormFooter = ({
  action,
  form,
  isDisabled = false,
  isLong = false,
  look = "main",
  needs,
  onCancel
}: {
  readonly action: string
  /** True while there is nothing to submit. */
  readonly isDisabled?: boolean
  readonly form: {
    readonly problem: unknown
    readonly isBusy: boolean
    readonly isChanged: boolean
    readonly discard?: (() => void) | undefined
    readonly attention: ReadonlyArray<string>
    readonly edits: EditConflicts
  }
  /**
   * True for a long form. Some of its fields may not be visible, and leaving it would lose a lot of
   * input.
   */
  readonly isLong?: boolean
  readonly look?: "main" | "danger" | "plain"
  readonly onCancel?: () => void
  /** The role required to submit the form. Members without it see which role is required. */
  readonly needs?: Role
}) => {
  const { attention } = form
  const isGivenUp = useRef(false)
  const isHeld = !useHasRole()(needs)
  return (
    <div
      className={classes(
        "flex flex-col gap-4",
        isLong
          ? "sticky bottom-0 z-10 -mx-1 max-h-[70dvh] overflow-y-auto border-t border-line bg-canvas px-1 py-3"
          : // On a phone, many dialogs are higher than the screen.
            "max-sm:in-[dialog]:sticky max-sm:in-[dialog]:bottom-0 max-sm:in-[dialog]:z-10 max-sm:in-[dialog]:-mx-5 max-sm:in-[dialog]:-mb-5 max-sm:in-[dialog]:border-t max-sm:in-[dialog]:border-line max-sm:in-[dialog]:bg-raised max-sm:in-[dialog]:px-5 max-sm:in-[dialog]:py-3"
      )}
    >
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
      {isHeld && needs !== undefined && (
        <p className="text-sm text-soft">{roleNeededMessage(needs)}</p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look={look} busy={form.isBusy} disabled={isHeld || isDisabled}>
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
        {form.discard !== undefined && (
          <p role="status" className="text-sm text-soft">
            Your unsaved input was restored.{" "}
            <button
              type="button"
              onClick={form.discard}
              className="font-medium text-live hover:underline"
            >
              Discard it
            </button>
          </p>
        )}
      </div>
      <LeaveConfirmation
        title="Leave without saving?"
        mayLose={() => (form.isBusy || (isLong && form.isChanged)) && !isGivenUp.current}
      >
        {form.isBusy ? "Your changes are still being saved." : "Your changes will be lost."}
      </LeaveConfirmation>
    </div>
  )
}
