/** Unicode marks that change the direction of the text that follows. */
const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Removes direction marks from a name, so that it does not reorder the words around it. */
export const stripDirectionMarks = (text: string): string => text.replaceAll(marks, "")
