/** Marks that turn the direction of the text after them. */
const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A name as it can stand in a sentence: nothing in it turns the words beside it round. */
export const plain = (text: string): string => text.replaceAll(marks, "")
