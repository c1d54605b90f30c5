/** Why a calendar is refused, in words for its owner. */
export class CalendarProblem extends Error {}

export const tooMuchWork = "its recurring events go back too far, or are too many"
