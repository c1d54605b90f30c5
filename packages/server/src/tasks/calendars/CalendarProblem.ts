/** The reason why a calendar is rejected, as a message for the user. */
export class CalendarProblem extends Error {}

export const tooMuchWork = "its recurring events go back too far, or are too many"
