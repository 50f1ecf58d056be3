/// An animal, and something true about it.
struct Animal: Encodable, Equatable {
  let name: String
  let fact: String

  static let all = [
    Animal(name: "Axolotl", fact: "It regrows whole limbs, and parts of its heart."),
    Animal(name: "Blue whale", fact: "Its heart weighs about as much as a small car."),
    Animal(name: "Cheetah", fact: "It can't roar; it purrs."),
    Animal(name: "Common swift", fact: "It can stay in the air for ten months."),
    Animal(name: "Giraffe", fact: "It has as many neck bones as a person: seven."),
    Animal(name: "Honeybee", fact: "It tells its sisters where flowers are by dancing."),
    Animal(name: "Octopus", fact: "It has three hearts and blue blood."),
    Animal(name: "Platypus", fact: "It finds its prey by the electricity of its muscles."),
    Animal(name: "Red panda", fact: "It uses its tail as a blanket."),
    Animal(name: "Reindeer", fact: "The colour of its eyes changes with the seasons."),
    Animal(name: "Sea otter", fact: "It keeps a favourite stone in a pocket under its arm."),
    Animal(name: "Wombat", fact: "Its droppings are cubes."),
  ]
}
