import { useIsWide } from "../../ui/layout/screenWidth.ts"
import { describeSchedule } from "./describeSchedule.ts"

/** The schedule in words, where there is no room for a preview beside the form. */
export const ScheduleInWords = ({
  schedule,
  timezone
}: {
  readonly schedule: string
  readonly timezone: string
}) => {
  const isWide = useIsWide()
  if (isWide) return null
  const expression = schedule.trim()
  const words = describeSchedule(expression, timezone.trim() || "UTC")
  return words !== expression && <p className="font-medium">{words}</p>
}
