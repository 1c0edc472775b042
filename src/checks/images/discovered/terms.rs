//! Images by id, SSM parameter, name, owner and tags.

use super::{API, DEPRECATED, Found, Launchable, kubernetes_name, nothing};
use crate::{
    checks::{
        Context, Stop,
        node_classes::Class,
        remedies::{listed, quote},
    },
    facts::{Fact, Unseen, ec2::Image, kubernetes::node_class::AmiTerm, selected::Selected},
    outcome::{Finding, Remedy},
};

/// Why a term finds nothing: in words, and the errors that this shows as.
struct Miss {
    words: String,
    errors: &'static [&'static str],
}

pub fn find(cx: &Context<'_>, class: &Class<'_>) -> Result<Found, Stop> {
    let terms = &class.spec.ami_terms;
    if terms.is_empty() {
        return Err(Stop::skipped(format!("{class} selects no image of its own")));
    }
    let (mut images, mut misses) = (Vec::new(), Vec::new());
    let mut unseen: Option<Unseen> = None;
    for term in terms {
        match by_term(cx, term) {
            Ok(Ok(found)) => images.extend(found),
            Ok(Err(miss)) => misses.push(miss),
            Err(why) => unseen = unseen.or(Some(why)),
        }
    }
    match unseen {
        _ if !images.is_empty() => Ok(Found::Images(images)),
        Some(why) => Err(why.into()),
        None => Ok(Found::None(missing(cx, class, &misses))),
    }
}

fn by_term(cx: &Context<'_>, term: &AmiTerm) -> Result<Result<Vec<Launchable>, Miss>, Unseen> {
    if let Some(id) = &term.id {
        return by_id(cx, id);
    }
    if let Some(parameter) = &term.ssm_parameter {
        let fact = cx.facts.image_parameters.get(parameter).ok_or_else(not_held)?;
        return match fact.found()? {
            Some(value) => by_id(cx, &value.image_id),
            None => Ok(Err(Miss {
                words: format!("the SSM parameter {parameter} does not exist"),
                errors: &["ami-not-found", "ami-parameter-not-found"],
            })),
        };
    }
    let found = Selected::answer(&cx.facts.selected_images, term).ok_or_else(not_held)?;
    let all: Vec<&Image> = found.found()?.into_iter().flatten().collect();
    let usable: Vec<_> = all.iter().filter(|image| obstacle(cx, image).is_none()).collect();
    if usable.is_empty() {
        let words = match all.first().and_then(|image| Some((image, obstacle(cx, image)?))) {
            Some((image, why)) => {
                format!("of the images {}, {} {why}", words(term), image.id)
            }
            None => format!("there is no image {}", words(term)),
        };
        return Ok(Err(Miss { words, errors: &["ami-not-found"] }));
    }
    Ok(Ok(usable.into_iter().map(|image| launchable(image)).collect()))
}

fn by_id(cx: &Context<'_>, id: &str) -> Result<Result<Vec<Launchable>, Miss>, Unseen> {
    if !is_image_id(id) {
        let words = format!("`{id}` is no image id");
        return Ok(Err(Miss { words, errors: &["ami-not-found", "ami-invalid"] }));
    }
    let fact = cx.facts.images.get(id).ok_or_else(not_held)?;
    let why = match fact {
        Fact::Absent => Some(
            "does not exist in this region, or is another account's and not shared with this one"
                .to_owned(),
        ),
        _ => obstacle(cx, fact.known()?),
    };
    Ok(match (why, fact.value()) {
        (None, Some(image)) => Ok(vec![launchable(image)]),
        (why, _) => Err(Miss {
            words: format!("{id} {}", why.unwrap_or_default()),
            errors: &["ami-not-found"],
        }),
    })
}

fn not_held() -> Unseen {
    Unseen::NotAsked { why: "these facts do not hold what the EC2NodeClass selects".to_owned() }
}

fn launchable(image: &Image) -> Launchable {
    let architecture = kubernetes_name(&image.architecture).unwrap_or(&image.architecture);
    Launchable {
        id: image.id.clone(),
        words: format!("{} for {architecture}", image.id),
        architecture: image.architecture.clone(),
    }
}

/// Why Karpenter does not take an image, or could not launch it.
fn obstacle(cx: &Context<'_>, image: &Image) -> Option<String> {
    if image.state != "available" {
        return Some(format!("is {}", image.state));
    }
    if kubernetes_name(&image.architecture).is_none() {
        return Some(format!("is for {}, which Karpenter does not launch", image.architecture));
    }
    let own = image.owner.as_deref().is_some_and(|owner| Some(owner) == cx.account());
    let deprecated = image.deprecated.is_some_and(|time| time <= cx.now);
    (deprecated && !own && cx.karpenter() < DEPRECATED).then(|| {
        format!("is deprecated by its owner, and Karpenter {} does not see it", cx.karpenter())
    })
}

fn is_image_id(id: &str) -> bool {
    let digits = id.strip_prefix("ami-");
    digits.is_some_and(|digits| {
        matches!(digits.len(), 8 | 17) && digits.chars().all(|c| c.is_ascii_hexdigit())
    })
}

/// What a term asks for: `by the name x of the owners self and amazon`.
fn words(term: &AmiTerm) -> String {
    let mut parts: Vec<String> =
        term.name.iter().map(|name| format!("by the name {name}")).collect();
    parts.extend(term.tags.iter().map(|(key, value)| match value.as_str() {
        "*" => format!("with the tag {key}"),
        _ => format!("with the tag {key}={value}"),
    }));
    match (&term.owner, &term.name) {
        (Some(owner), _) => parts.push(format!("of the owner {owner}")),
        (None, Some(_)) => parts.push("of your own or of Amazon".to_owned()),
        (None, None) => {}
    }
    parts.join(" ")
}

fn missing(cx: &Context<'_>, class: &Class<'_>, misses: &[Miss]) -> Finding {
    let mut errors: Vec<&'static str> = Vec::new();
    for error in misses.iter().flat_map(|miss| miss.errors) {
        if !errors.contains(error) {
            errors.push(error);
        }
    }
    let why: Vec<_> = misses.iter().map(|miss| &miss.words).collect();
    let seen = format!("{class} finds no image in {}: {}.", cx.region(), listed(&why));
    nothing(class, seen)
        .errors(&errors)
        .evidence(API, format!("amiSelectorTerms of {class}"), "[]")
        .mend(
            Remedy::new(
                "Correct amiSelectorTerms, or have the image shared with this account. Image ids \
                 differ from region to region; by name without an owner, Karpenter looks among your \
                 own images and Amazon's only.",
            )
            .run(format!(
                "aws ec2 describe-images --region {} --owners self --include-deprecated --query \
                 'Images[].[ImageId,Name,State,Architecture]' --output text",
                quote(cx.region())
            ))
            .run(class.edit()),
        )
}
