/** Why a calendar is rejected, as a message for the user. */
export class CalendarProblem extends Error {}

export const calendarTooComplexMessage = "its recurring events go back too far, or are too many"
